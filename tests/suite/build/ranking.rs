//! Related documents and the reasons given for them.

use serde_json::Value;

use crate::support::Project;

/// Two subjects of ten decisions each. Within a subject each decision cites the first.
fn sample() -> Project {
    let project = Project::new();
    let subjects =
        [("storage", "shard compaction tombstone", 1), ("login", "passkey session cookie", 11)];
    for (subject, words, first) in subjects {
        for i in first..first + 10 {
            let cites = if i == first || i == first + 9 {
                String::new()
            } else {
                format!("It follows ADR {first:04}.\n\n")
            };
            project.write(
                &format!(".blue/docs/adrs/{i:04}-{subject}-{i}.md"),
                format!("# ADR {i:04}: About {subject} {i}\n\n- Status: accepted\n\n## Decision\n\n{cites}The {words} of {subject} are decided here, case{i}.\n"),
            );
        }
    }
    project.build();
    project
}

fn related(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["knowledge", "related", "--format", "json"], arguments].concat();
    project.json(&arguments).as_array().unwrap().clone()
}

#[test]
fn naming_the_title_of_a_document_relates_to_it() {
    let project = sample();
    let write = |name: &str, title: &str, text: &str| {
        let text = format!("# {title}\n\n- Status: accepted\n\n## Decision\n\n{text}\n");
        project.write(&format!(".blue/docs/adrs/{name}.md"), text);
    };
    write("0050-freedom", "ADR 0050: Freedom through constraint", "Rails are laid, trains run.");
    write("0051-words", "ADR 0051: Constraint before freedom", "Other words in another order.");
    write("0052-who", "ADR 0052: Dates", "As in freedom\nthrough constraint, dates are strict.");
    project.build();
    let near = related(&project, &["blue://adr/52"]);
    assert_eq!(near[0]["uri"], "blue://docs/adrs/0050-freedom", "{near:?}");
    assert_eq!(near[0]["reasons"][0], "contains its title");
}

fn decision(project: &Project, name: &str, title: &str, text: &str) {
    let text = format!("# {title}\n\n- Status: accepted\n\n## Decision\n\n{text}\n");
    project.write(&format!(".blue/docs/adrs/{name}.md"), text);
}

#[test]
fn a_document_is_known_by_its_file_if_others_have_its_title() {
    let project = sample();
    let title = "Detailed design";
    decision(&project, "0050-lazy-snapshot-trees", title, "Rails are laid.");
    decision(&project, "0051-trees-snapshot-lazy", title, "Trains run.");
    let text = "As lazy snapshot trees do, dates last. It has a detailed design.";
    decision(&project, "0052-dates", "ADR 0052: Dates", text);
    project.build();
    let near = related(&project, &["blue://adr/52"]);
    assert_eq!(near[0]["uri"], "blue://docs/adrs/0050-lazy-snapshot-trees", "{near:?}");
    let shared = near.iter().any(|near| near["uri"].as_str().unwrap().contains("0051"));
    assert!(!shared, "a title that two documents share names neither: {near:?}");
}

#[test]
fn words_of_code_names_relate_documents() {
    let project = sample();
    let names = "`flushPage` `SHARD_SIZE` `page_of` `RESTORE` `keyRange`. ".repeat(6);
    decision(&project, "0050-rails", "ADR 0050: Rails", &format!("Laid once. {names}"));
    decision(&project, "0051-trains", "ADR 0051: Trains", "Run twice.");
    decision(&project, "0052-dates", "ADR 0052: Dates", &format!("Last long. {names}"));
    project.build();
    let near = related(&project, &["blue://adr/52"]);
    assert_eq!(near[0]["uri"], "blue://docs/adrs/0050-rails", "{near:?}");
    assert!(near[0]["reasons"].to_string().contains("shares: flush"), "{near:?}");
}

#[test]
fn citation_text_relates_a_document_to_similar_words() {
    let project = sample();
    decision(&project, "0050-rails", "ADR 0050: Rails", "Laid once.");
    decision(&project, "0051-trains", "ADR 0051: Trains", "Laid once.");
    for i in 60..66 {
        let title = format!("ADR {i:04}: Case {i}");
        let text = "The amber lantern rule of ADR 0051.\n\nThe rule lantern amber of ADR 0050.";
        decision(&project, &format!("{i:04}-case"), &title, text);
    }
    decision(&project, "0052-dates", "ADR 0052: Dates", "Here the amber lantern rule holds.");
    project.build();
    let near = related(&project, &["blue://adr/52"]);
    let place =
        |name: &str| near.iter().position(|near| near["uri"].as_str().unwrap().contains(name));
    let (trains, rails) = (place("0051-trains"), place("0050-rails"));
    assert!(trains.is_some() && (rails.is_none() || trains < rails), "{near:?}");
}

#[test]
fn similar_documents_are_related_with_their_shared_terms() {
    let project = sample();
    // The last decision of each subject cites none and is cited by none.
    let near = related(&project, &["blue://adr/10"]);
    assert_eq!(near.len(), 9, "{near:?}");
    for near in &near {
        assert!(near["uri"].as_str().unwrap().contains("storage"), "{near}");
    }
    let first = near.iter().find(|near| near["uri"] == "blue://docs/adrs/0001-storage-1").unwrap();
    let reasons = first["reasons"].to_string();
    assert!(reasons.contains("cited by ADR 000") && reasons.contains("similar"), "{reasons}");
    let shares = near.iter().any(|near| near["reasons"].to_string().contains("shares: "));
    assert!(shares, "{near:?}");
    // A named document comes before similar ones.
    let named = related(&project, &[".blue/docs/adrs/0005-storage-5.md"]);
    assert_eq!(named[0]["uri"], "blue://docs/adrs/0001-storage-1");
    assert!(named[0]["reasons"][0].as_str().unwrap().starts_with("mentions it"), "{}", named[0]);
}

#[test]
fn related_accepts_addresses_paths_and_words() {
    let project = sample();
    let words = related(&project, &["login", "--limit", "3"]);
    assert_eq!(words.len(), 3);
    assert!(words.iter().all(|near| near["title"].as_str().unwrap().contains("login")));
    let short = project.blue(&["knowledge", "related", "blue://adr/10", "--budget", "100"]).stdout;
    let n_tokens = blue::condense::tokens::count(&short);
    assert!((20..=100).contains(&n_tokens), "{n_tokens} {short}");
    let text = project.blue(&["knowledge", "related", "blue://adr/10", "--why"]).stdout;
    assert!(text.contains("docs/adrs/0001-storage-1.md") && text.contains("    "), "{text}");
    let why = project.blue(&["knowledge", "why", "blue://adr/5", "blue://adr/1"]);
    assert!(why.stdout.contains("mentions it, line 7"), "{}", why.stdout);
    assert!(why.stdout.contains("it mentions this"), "{}", why.stdout);
    let far = project.blue(&["knowledge", "why", "blue://adr/5", "blue://adr/15"]);
    assert_eq!(far.code, 0);
    assert_eq!(project.blue(&["knowledge", "related", "zebra"]).code, 1);
    let bad = project.blue(&["knowledge", "related", "blue://adr/99"]);
    assert!(bad.code == 2 && bad.stderr.contains("hint: did you mean"), "{}", bad.stderr);
}

#[test]
fn the_index_is_the_same_on_any_number_of_threads() {
    let index = |jobs: &str| {
        let project = sample();
        assert_eq!(project.blue(&["knowledge", "build", "--force", "--jobs", jobs]).code, 0);
        project.read(".blue/context/relevance.jsonl")
    };
    let one = index("1");
    assert_eq!(one, index("3"));
    assert_eq!(one, index("8"));
}

/// A pseudo-random number below a bound, the same on every machine.
fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

/// A sentence with mostly words of the subject, some common words, few unique words,
/// and some names of code.
fn sentence(state: &mut u64, subject: usize) -> String {
    let word = |state: &mut u64| match random(state, 8) {
        0 => format!("common{}", random(state, 12)),
        1 => format!("rare{}", random(state, 2_000)),
        2 if random(state, 4) == 0 => format!("usedName{}", random(state, 160)),
        _ => format!("topic{subject}word{}", random(state, 90)),
    };
    let words: Vec<String> = (0..12).map(|_| word(state)).collect();
    format!("Xx {}.\n", words.join(" "))
}

#[test]
fn a_ranking_after_edits_is_that_of_a_clean_build() {
    let (project, mut state) = (Project::new(), 7);
    let path = |i: usize| format!(".blue/docs/adrs/{i:04}-d{i}.md");
    for i in 1..=400 {
        let text: String = (0..6).map(|_| sentence(&mut state, i % 3)).collect();
        let cited = 1 + random(&mut state, 400);
        let title = format!("Topic{} number{i}", i % 3);
        project.write(&path(i), format!("# ADR {i:04}: {title}\n\nSee ADR {cited:04}.\n\n{text}"));
    }
    project.build();
    for round in 0..12 {
        for _ in 0..1 + round % 2 {
            let i = 1 + random(&mut state, 400);
            let mut text = project.read(&path(i));
            match random(&mut state, 4) {
                0 => {
                    text = text
                        .lines()
                        .rev()
                        .skip(2)
                        .fold(String::new(), |all, line| format!("{line}\n{all}"))
                }
                _ => text += &sentence(&mut state, i % 3),
            }
            project.write(&path(i), text);
        }
        let output = project.blue(&["knowledge", "build", "--explain"]);
        let lines = output.stdout.lines().chain(output.stderr.lines());
        let reason = lines.filter(|line| line.contains("relevance.jsonl")).collect::<String>();
        assert!(!reason.contains("removed"), "{reason}");
        let built = project.files();
        std::fs::remove_dir_all(project.path().join(".blue/local")).unwrap();
        std::fs::remove_dir_all(project.path().join(".blue/context")).unwrap();
        std::fs::remove_file(project.path().join(".blue/context.manifest.yaml")).unwrap();
        project.build();
        assert!(built == project.files(), "round {round} is not what a clean build gives");
    }
}

#[test]
fn a_changed_limit_reranks_the_document() {
    let project = sample();
    let path = |i: u32| format!(".blue/docs/adrs/{i:04}-long-{i}.md");
    for i in 30..36 {
        let words = if i % 2 == 0 { "glacier moraine " } else { "harbour lantern " };
        let text = format!("# ADR {i:04}: Long {i}\n\n{}{}\n", "x ".repeat(400), words.repeat(30));
        project.write(&path(i), text);
    }
    project.build();
    let before = project.read(".blue/context/relevance.jsonl");
    assert!(before.contains("shares: glacier, moraine"), "{before}");
    // With this limit the words at the end of those lines are not read.
    project.write(".blue/config.yaml", "version: 1\nlimits:\n  line_bytes: 600\n");
    project.build();
    let after = project.read(".blue/context/relevance.jsonl");
    assert!(!after.contains("glacier"), "{after}");
    let check = project.blue(&["knowledge", "build", "--check"]);
    assert_eq!(check.code, 0, "{}", check.stderr);
}

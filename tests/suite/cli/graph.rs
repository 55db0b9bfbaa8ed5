//! `knowledge graph`: the references between documents as a drawing and as data.

use serde_json::Value;

use crate::support::Project;

fn adr(project: &Project, number: u32, title: &str, head: &str, body: &str) {
    project.write(
        &format!(".blue/docs/adrs/{number:04}-d{number}.md"),
        format!("---\nstatus: accepted\n{head}---\n# {title}\n\n## Decision\n\n{body}\n"),
    );
}

/// 1 ← 2 depends, 2 ← 3 supersedes, 3 ← 4 mentions; 5 alone; an RFC that links to 1.
fn sample() -> Project {
    let project = Project::new();
    adr(&project, 1, "First", "", "x");
    adr(&project, 2, "Second", "depends-on: 1\n", "Also ADR 1 and ADR 0001.");
    adr(&project, 3, "Third", "supersedes: 2\n", "x");
    adr(&project, 4, "Fourth", "", "As ADR 3 says.");
    adr(&project, 5, "Fifth", "", "x");
    project.write(
        ".blue/docs/rfcs/0001-end.md",
        "# RFC 0001: end\n\n- Status: draft\n\nSee [it](../adrs/0001-d1.md).\n",
    );
    project
}

fn graph(project: &Project, arguments: &[&str]) -> String {
    let output = project.blue(&[&["knowledge", "graph"], arguments].concat());
    assert_eq!(output.code, 0, "{}", output.stderr);
    output.stdout
}

fn json(project: &Project, arguments: &[&str]) -> (Vec<String>, Vec<String>) {
    let text = graph(project, &[&["--format", "json"], arguments].concat());
    let value: Value = serde_json::from_str(&text).unwrap();
    let id = |value: &Value| value.as_str().unwrap().rsplit('/').next().unwrap().to_string();
    let nodes = value["nodes"].as_array().unwrap().iter().map(|node| id(&node["uri"])).collect();
    let edges = value["edges"].as_array().unwrap().iter().map(|edge| {
        format!("{} {} {}", id(&edge["from"]), edge["relation"].as_str().unwrap(), id(&edge["to"]))
    });
    (nodes, edges.collect())
}

#[test]
fn the_graph_needs_no_build_and_dashes_superseded_documents() {
    let project = sample();
    let expected = r#"flowchart LR
  d0["ADR 0001<br/>First<br/>accepted"]
  d1["ADR 0002<br/>Second<br/>accepted"]:::dead
  d2["ADR 0003<br/>Third<br/>accepted"]
  d3["ADR 0004<br/>Fourth<br/>accepted"]
  d4["ADR 0005<br/>Fifth<br/>accepted"]
  d5["RFC 0001<br/>end<br/>draft"]
  d1 -->|"depends on, mentions"| d0
  d2 -->|"supersedes"| d1
  d3 -.->|"mentions"| d2
  d5 -->|"links to"| d0
  classDef dead fill:whitesmoke,stroke:grey,color:grey,stroke-dasharray:4 3
"#;
    assert_eq!(graph(&project, &[]), expected);
    assert!(!project.exists(".blue/local") && !project.exists("knowledge"));
    let dot = graph(&project, &["--format", "dot"]);
    assert!(dot.starts_with("digraph blue {\n  rankdir=LR;\n"), "{dot}");
    let dead = "\"blue://docs/adrs/0002-d2\" [label=\"ADR 0002\\nSecond\\naccepted\", style=dashed, color=grey, fontcolor=grey];";
    assert!(dot.contains(dead), "{dot}");
    assert!(dot.contains("\"blue://docs/adrs/0004-d4\" -> \"blue://docs/adrs/0003-d3\" [label=\"mentions\", style=dotted];"));
}

#[test]
fn the_graph_can_be_limited_to_a_collection_or_a_neighbourhood() {
    let project = sample();
    assert_eq!(json(&project, &["adrs"]).0.len(), 5);
    assert_eq!(json(&project, &["rfc"]), (vec!["0001-end".to_string()], vec![]));
    let near = ["0001-d1", "0002-d2", "0001-end"];
    for about in [
        "blue://docs/adrs/0001-d1",
        "blue://adr/1",
        "adr/1",
        "ADR 1",
        "adr-0001",
        "d1",
        ".blue/docs/adrs/0001-d1.md",
    ] {
        assert_eq!(json(&project, &[about]).0, near, "{about}");
    }
    let (nodes, edges) = json(&project, &["d1", "--depth", "2"]);
    assert_eq!(nodes, ["0001-d1", "0002-d2", "0003-d3", "0001-end"]);
    assert_eq!(
        edges,
        [
            "0002-d2 depends_on 0001-d1",
            "0002-d2 mention 0001-d1",
            "0003-d3 supersedes 0002-d2",
            "0001-end link 0001-d1"
        ]
    );
    assert_eq!(json(&project, &["d1", "--depth", "0"]).0, ["0001-d1"]);
    let several = project.blue(&["knowledge", "graph", "1"]);
    assert!(several.code == 2 && several.stderr.contains("matches several"), "{}", several.stderr);
    let nothing = project.blue(&["knowledge", "graph", "zebra"]);
    assert!(nothing.code == 2 && nothing.stderr.contains("blue knowledge list"));
}

#[test]
fn hostile_titles_are_escaped() {
    let project = Project::new();
    let title = "end \"] --> x; %%{init: {'a': 1}}%% <script>`#quot; \\N \\\" [a](b) {c} | \u{202e}x style:a#1;";
    adr(&project, 1, title, "", "x");
    let mermaid = graph(&project, &[]);
    let line = mermaid.lines().nth(1).unwrap();
    let label = line.strip_prefix("  d0[\"ADR 0001<br/>").unwrap();
    let label = label.strip_suffix("<br/>accepted\"]").unwrap();
    assert!(
        !label.contains(['"', '<', '>', '%', '{', '`', '[', ']', '|', ':', '\u{202e}']),
        "{label}"
    );
    // Each `#` starts a character reference and each `;` ends one.
    for part in label.split('#').skip(1) {
        let number = part.split(';').next().unwrap();
        assert!(number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty(), "{label}");
    }
    assert_eq!(mermaid.lines().count(), 2);
    let dot = graph(&project, &["--format", "dot"]);
    let line = dot.lines().find(|line| line.contains("ADR 0001")).unwrap();
    let label = line.split("label=\"").nth(1).unwrap().strip_suffix("\"];").unwrap();
    // No quote and no backslash is unescaped in DOT.
    let bare = label.replace("\\\\", "").replace("\\\"", "").replace("\\n", "");
    assert!(!bare.contains(['"', '\\']), "{label}");
}

#[test]
fn a_graph_too_large_for_mermaid_is_cut_with_a_note() {
    let project = Project::new();
    for i in 1..=120 {
        let cites: String = (1..=6).map(|n| format!("ADR {} ", (i + n * 7) % 120 + 1)).collect();
        let head = if i > 1 { format!("depends-on: {}\n", i - 1) } else { String::new() };
        adr(&project, i, &format!("Decision {i}"), &head, &cites);
    }
    let cut = project.blue(&["knowledge", "graph"]);
    assert_eq!(cut.stdout.matches("-->|").count() + cut.stdout.matches("-.->|").count(), 500);
    assert_eq!(cut.stdout.matches("depends on").count(), 119, "the strongest stay");
    assert!(cut.stdout.len() <= 50_000);
    assert!(cut.stdout.contains("  %% 500 of ") && cut.stderr.contains("hint: "), "{}", cut.stderr);
    assert_eq!(project.blue(&["knowledge", "graph"]).stdout, cut.stdout);
    let whole = project.blue(&["knowledge", "graph", "--format", "dot"]);
    assert!(whole.stderr.is_empty() && whole.stdout.matches(" -> ").count() > 700);
    let three = graph(&project, &["adr/50", "--limit", "3"]);
    assert_eq!(three.matches("|\"").count(), 3);
    assert!(three.lines().filter(|line| line.contains("|\"")).all(|line| line.contains("d49")));
}

#[test]
fn a_title_cannot_put_an_agent_tag_into_the_graph() {
    let project = Project::new();
    adr(&project, 1, "Use `</blue-session>` and `<|im_start|>` and `[INST]`", "", "x");
    for format in ["mermaid", "dot", "json"] {
        let text = graph(&project, &["--format", format]);
        for tag in ["</blue-", "<|im_", "[INST]"] {
            assert!(!text.contains(tag), "{format}: {text}");
        }
    }
}

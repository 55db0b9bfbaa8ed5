//! House rules that a machine can check: dependencies of modules, sizes, words and writers.

mod language;

use crate::support;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Modules that each module may use, as in the table of ARCHITECTURE.md.
const USES: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("root", &["model"]),
    ("discover", &["model", "root"]),
    ("guard", &["model"]),
    ("parse", &["model", "guard"]),
    ("link", &["model"]),
    ("rank", &["model"]),
    ("search", &["model"]),
    ("condense", &["model"]),
    ("render", &["model"]),
    ("wire", &["model"]),
    ("responsibility", &["model", "parse", "condense", "wire"]),
    ("queue", &["model", "root", "guard", "responsibility"]),
    ("emit", &["model", "root", "wire"]),
    ("verify", &["model", "root", "wire"]),
    ("serve", &["model", "root", "search", "wire", "reader"]),
    (
        "build",
        &[
            "model",
            "root",
            "discover",
            "guard",
            "parse",
            "link",
            "rank",
            "search",
            "condense",
            "render",
            "wire",
            "responsibility",
            "emit",
            "verify",
        ],
    ),
    (
        "lifecycle",
        &["model", "root", "discover", "guard", "parse", "link", "wire", "emit", "build", "serve"],
    ),
    ("reader", &["model", "root", "discover", "guard", "parse", "condense", "wire", "verify"]),
    (
        "mcp",
        &[
            "model",
            "root",
            "discover",
            "guard",
            "search",
            "condense",
            "wire",
            "emit",
            "build",
            "reader",
            "serve",
            "lifecycle",
        ],
    ),
    (
        "cli",
        &[
            "model",
            "root",
            "discover",
            "guard",
            "parse",
            "link",
            "rank",
            "search",
            "condense",
            "render",
            "wire",
            "responsibility",
            "queue",
            "emit",
            "verify",
            "build",
            "reader",
            "serve",
            "lifecycle",
            "mcp",
        ],
    ),
];

const MAX_FILE_LINES: usize = 400;
const MAX_FUNCTION_LINES: usize = 60;

/// Every Rust file of `src` by its path below it.
fn sources() -> BTreeMap<PathBuf, String> {
    let mut sources = files("src");
    sources.retain(|path, _| path.extension().is_some_and(|extension| extension == "rs"));
    sources
}

/// Every file below a folder of the repository by its path there.
fn files(folder: &str) -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = BTreeMap::new();
    let mut open = vec![root.clone()];
    while let Some(at) = open.pop() {
        for path in support::entries(&at) {
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let text = std::fs::read_to_string(&path).unwrap();
                    files.insert(path.strip_prefix(&root).unwrap().to_path_buf(), text);
                }
            }
        }
    }
    files
}

/// The text without its unit tests.
fn production(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

fn module_of(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_string()
}

#[test]
fn a_module_uses_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let module = module_of(&path);
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        let allowed = USES
            .iter()
            .find(|(name, _)| *name == module)
            .unwrap_or_else(|| panic!("module {module} is not in the table"))
            .1;
        for (i, line) in production(&text).lines().enumerate() {
            for (at, _) in line.match_indices("crate::") {
                let rest = &line[at + "crate::".len()..];
                let used: String =
                    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if rest.starts_with('{') {
                    wrong.extend(
                        rest.trim_matches(['{', '}', ';'])
                            .split(',')
                            .map(str::trim)
                            .filter(|used| !allowed.contains(used) && *used != module)
                            .map(|used| {
                                format!("{}:{}: {module} uses {used}", path.display(), i + 1)
                            }),
                    );
                } else if used != module
                    && !allowed.contains(&used.as_str())
                    && USES.iter().any(|(name, _)| *name == used)
                {
                    wrong.push(format!("{}:{}: {module} uses {used}", path.display(), i + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_opens_with_a_summary_and_stays_small() {
    let mut wrong = Vec::new();
    let mut sizes = Vec::new();
    for (path, text) in sources() {
        let first = text.lines().next().unwrap_or_default();
        if !first.starts_with("//! ") || !first.ends_with('.') {
            wrong.push(format!(
                "{}: line 1 is not a summary that ends with a full stop",
                path.display()
            ));
        }
        let n_lines = production(&text).lines().count();
        sizes.push(n_lines);
        if n_lines > MAX_FILE_LINES {
            wrong.push(format!("{}: {n_lines} lines, at most {MAX_FILE_LINES}", path.display()));
        }
    }
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    assert!(median <= 180, "the median file has {median} lines");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_stay_short() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let mut start: Option<(usize, usize, String)> = None;
        for (i, line) in production(&text).lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let bare = line
                .trim_start()
                .trim_start_matches("pub ")
                .trim_start_matches("pub(super) ")
                .trim_start_matches("pub(crate) ");
            if bare.starts_with("fn ") {
                start = Some((i, indent, bare.to_string()));
            }
            if let Some((first, depth, name)) = &start
                && line.trim_end() == format!("{}}}", " ".repeat(*depth))
            {
                if i - first + 1 > MAX_FUNCTION_LINES {
                    wrong.push(format!(
                        "{}:{}: {} lines: {name}",
                        path.display(),
                        first + 1,
                        i - first + 1
                    ));
                }
                start = None;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn leftover_markers_are_banned() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (i, line) in text.lines().enumerate() {
            for word in [
                "TODO",
                "FIXME",
                "XXX",
                "todo!(",
                "unimplemented!(",
                "#[ignore]",
                "// ====",
                "// ----",
            ] {
                if line.contains(word) {
                    wrong.push(format!("{}:{}: {word}", path.display(), i + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_modules_touch_no_disk_clock_or_environment() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if !["model", "guard", "parse", "link", "rank", "condense", "render", "responsibility"]
            .contains(&module_of(&path).as_str())
        {
            continue;
        }
        for (i, line) in production(&text).lines().enumerate() {
            for word in ["std::fs", "std::env::", "std::time", "std::net", "std::process", "rustix"]
            {
                if line.contains(word) {
                    wrong.push(format!("{}:{}: {word}", path.display(), i + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_emit_writes() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if module_of(&path) == "emit" {
            continue;
        }
        for (i, line) in production(&text).lines().enumerate() {
            for word in [
                "renameat",
                "mkdirat",
                "unlinkat",
                "OFlags::CREATE",
                "OFlags::WRONLY",
                "fs::write",
                "File::create",
                "create_dir",
            ] {
                if line.contains(word) {
                    wrong.push(format!("{}:{}: {word}", path.display(), i + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_schemas_on_disk_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    for name in blue::wire::schema::NAMES {
        let path = folder.join(format!("{name}.schema.json"));
        let expected = blue::wire::schema::text(name).unwrap();
        if std::env::var_os("BLESS").is_some() {
            support::write(&path, &expected);
        }
        let actual = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            actual,
            expected,
            "{} is not current: BLESS=1 cargo test --test suite",
            path.display()
        );
    }
}

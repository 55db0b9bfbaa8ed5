//! Names of git branches, by the rules of `git check-ref-format`.

/// Prefix of branches before there was a key for it. Such branches are still recognised.
pub const OLDER_PREFIX: &str = "rfc/";

/// Returns true if git accepts a name for a branch.
pub fn is_valid(name: &str) -> bool {
    let is_forbidden =
        |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    !name.contains(is_forbidden)
        && !name.contains("..")
        && !name.contains("@{")
        && name != "HEAD"
        && name != "@"
        && !name.starts_with('-')
        && !name.ends_with('.')
        && name.split('/').all(is_part)
}

/// Returns true if a text can be the start of the name of a branch. A quote would be legal for git, but
/// not for the hooks, which look names up in JSON.
pub fn is_prefix(prefix: &str) -> bool {
    !prefix.contains('"') && is_valid(&format!("{prefix}x"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_those_of_git() {
        let names = [
            "feature/x",
            "x",
            "a.b",
            "a/b/c",
            "é",
            "@x",
            "x@",
            "a-",
            "feature//x",
            "/x",
            "x/",
            ".x",
            "a/.b",
            "x.lock",
            "a.lock/b",
            "a..b",
            "a~b",
            "a^b",
            "a:b",
            "a?b",
            "a*b",
            "a[b",
            "a\\b",
            "a b",
            "a@{b",
            "HEAD",
            "-x",
            "x.",
            "a./b",
            "a\u{7f}b",
            "a\tb",
            "\"",
        ];
        for name in names {
            let mut git = std::process::Command::new("git");
            git.args(["check-ref-format", "--branch", name]).current_dir("/");
            let output = git.output().expect("git runs");
            assert_eq!(is_valid(name), output.status.success(), "{name:?}");
        }
    }

    #[test]
    fn a_prefix_may_be_empty_or_end_without_a_slash() {
        assert!(is_prefix("") && is_prefix("feature/") && is_prefix("me-"));
        assert!(!is_prefix("/") && !is_prefix("a b/") && !is_prefix("\"/") && !is_prefix("a//"));
    }
}

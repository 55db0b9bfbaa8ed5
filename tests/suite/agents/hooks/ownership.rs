//! Hooks in projects of other users and below repository boundaries.

use std::path::Path;

use super::{Hook, START, everywhere, everywhere_once, sample, shells};
use crate::support::give_to_another_user;

#[test]
fn the_hook_does_not_climb_past_a_repository() {
    everywhere_once(|hook| {
        std::fs::create_dir_all(hook.project.path().join("clone/below")).unwrap();
        assert!(!hook.run("session-start", "clone/below", &[], b"").is_empty());
        for git in ["clone/.git/HEAD", "clone/.git"] {
            std::fs::remove_dir_all(hook.project.path().join("clone/.git")).ok();
            hook.project.write(git, "gitdir: elsewhere\n");
            for folder in ["clone", "clone/below"] {
                assert_eq!(hook.run("session-start", folder, &[], b""), b"", "{git} {folder}");
            }
        }
    });
}

#[test]
fn the_hook_does_not_climb_into_a_ceiling() {
    let project = sample();
    std::fs::create_dir_all(project.path().join("a/b")).unwrap();
    let expected = project.read(".blue/context/session.md").into_bytes();
    let root: &'static str = project.path().to_str().unwrap().to_string().leak();
    let above: &'static str = Path::new(root).parent().unwrap().to_str().unwrap();
    for (shell, awk) in shells() {
        let mut hook = Hook { project: &project, shell, awk, environment: Vec::new() };
        for (ceilings, delivers) in [("", true), (above, true), ("/", true), (root, false)] {
            hook.environment = vec![("GIT_CEILING_DIRECTORIES", ceilings)];
            let printed = hook.run("session-start", "a/b", &[], b"{}");
            assert_eq!(printed == expected, delivers, "{:?} {ceilings}", hook.shell);
            assert!(delivers || printed.is_empty());
        }
    }
}

#[test]
fn a_project_of_another_user_is_refused_in_one_line() {
    everywhere(|hook| {
        for folder in [".blue", ""] {
            let path = hook.project.path().join(folder);
            if !give_to_another_user(&path) {
                return;
            }
            let (printed, warning) = hook.run_warned("session-start", "", &[], START.as_bytes());
            assert_eq!(printed, b"", "{:?} {folder}", hook.shell);
            assert_eq!(warning.lines().count(), 1, "{warning}");
            let root = hook.project.path().canonicalize().unwrap().display().to_string();
            let typed = format!("safe_directories: [\"{root}\"]");
            assert!(warning.contains(&typed), "{warning}");
            assert!(warning.contains("home/.blue/config.yaml"), "{warning}");
            assert!(!hook.project.exists(".blue/local/audit.jsonl"));
            std::os::unix::fs::chown(&path, Some(0), Some(0)).unwrap();
        }
        assert!(!hook.start(START).is_empty());
    });
}

#[test]
fn a_listed_directory_of_another_user_is_delivered() {
    everywhere(|hook| {
        if !give_to_another_user(hook.project.path()) {
            return;
        }
        let root = hook.project.path().canonicalize().unwrap().display().to_string();
        let config = "home/.blue/config.yaml";
        let delivers = |text: &str| {
            hook.project.write(config, text.replace("@", &root));
            let (printed, warning) = hook.run_warned("session-start", "", &[], START.as_bytes());
            assert_eq!(printed.is_empty(), !warning.is_empty(), "{text}: {warning}");
            !printed.is_empty()
        };
        for text in [
            "safe_directories: [\"@\"]\n",
            "safe_directories: ['/a', '@']\n",
            "safe_directories: [/a, @] # mine\n",
            "safe_directories: [\n  /a,\n  \"@\"\n]\n",
            "safe_directories:\n  - /a\n  - @\n",
            "safe_directories:\n- \"@\" # mine\n- /a\n",
            "# mine\nvault: x\nsafe_directories:\n\n  # this one\n  - '@/'\nmodel_switch: y\n",
            "safe_directories: [\"*\"]\r\n",
            "safe_directories:\r\n  - \"*\"\r\n",
        ] {
            assert!(delivers(text), "{:?} {}: {text}", hook.shell, hook.awk);
        }
        for text in [
            "",
            "safe_directories: []\n",
            "safe_directories: [/a, \"@x\", \"@/below\"]\n",
            "# safe_directories: [\"@\"]\n",
            "other:\n  - @\n",
            "safe_directories:\n  - /a\nother:\n  - @\n",
            "safe_directories: [/a]\nother: [\"@\"]\n",
            "  safe_directories: [\"@\"]\n",
            "safe_directories: /a # @\n",
        ] {
            assert!(!delivers(text), "{:?} {}: {text}", hook.shell, hook.awk);
        }
    });
}

#[test]
fn root_may_use_the_project_of_the_user_who_called_sudo() {
    everywhere_once(|hook| {
        if !give_to_another_user(hook.project.path()) {
            return;
        }
        let under = |uid: &'static str| {
            let (project, shell) = (hook.project, hook.shell.clone());
            let environment = vec![("SUDO_UID", uid)];
            let hook = Hook { project, shell, awk: hook.awk, environment };
            hook.run_warned("session-start", "", &[], START.as_bytes())
        };
        assert_eq!(under("54321").1, "");
        assert_ne!(under("54322").1, "");
        assert_ne!(under("").1, "");
    });
}

//! Passwords that are handed to a command where it is called: `curl -u name:password`.

use std::ops::Range;

use super::anchor::part;
use super::secret::Hit;
use super::{url, value};

/// How a command is handed its password.
#[derive(Clone, Copy)]
enum How {
    /// `-p password` and `--password=password`.
    Next,
    /// `-ppassword`.
    Attached,
    /// `-u name:password`, with this sign between.
    Behind(char),
    /// `name/password@host`, without a flag.
    Login,
}

/// The commands, as they are looked for.
pub(super) const ANCHORS: &[&str] = &[
    "curl ",
    "wget ",
    "sshpass ",
    "mysql ",
    "mysqldump ",
    "mysqladmin ",
    "mysqlimport ",
    "mariadb ",
    "mariadb-dump ",
    "redis-cli ",
    "ldapsearch ",
    "ldapmodify ",
    "ldapadd ",
    "docker login ",
    "podman login ",
    "helm registry login ",
    "az login ",
    "oc login ",
    "sqlcmd ",
    "mongo ",
    "mongosh ",
    "mongodump ",
    "mongorestore ",
    "smbclient ",
    "keytool ",
    "openssl ",
    "sqlplus ",
    "pgpassword=",
    "mysql_pwd=",
    "sshpass=",
    "rediscli_auth=",
];

/// The first letters of commands, their flags, and how those take a password.
const FLAGS: &[(&str, &[&str], How)] = &[
    ("curl", &["-u", "--user", "-U", "--proxy-user"], How::Behind(':')),
    ("wget", &["--password", "--http-password", "--ftp-password"], How::Next),
    ("sshpass", &["-p"], How::Next),
    ("sshpass", &["-p"], How::Attached),
    ("mysql", &["-p"], How::Attached),
    ("mysql", &["--password"], How::Next),
    ("mariadb", &["-p"], How::Attached),
    ("mariadb", &["--password"], How::Next),
    ("redis-cli", &["-a", "--pass"], How::Next),
    ("ldap", &["-w"], How::Next),
    ("docker login", &["-p", "--password"], How::Next),
    ("podman login", &["-p", "--password"], How::Next),
    ("helm registry", &["-p", "--password"], How::Next),
    ("az login", &["-p", "--password"], How::Next),
    ("oc login", &["-p", "--password"], How::Next),
    ("sqlcmd", &["-P"], How::Next),
    ("mongo", &["-p", "--password"], How::Next),
    ("smbclient", &["-U", "--user"], How::Behind('%')),
    ("keytool", &["-storepass", "-keypass"], How::Next),
    ("openssl", &["-passin", "-passout", "-pass"], How::Behind(':')),
    ("sqlplus", &[], How::Login),
];

/// No call is read further than this, nor more of its words.
const MAX_BYTES: usize = 600;
const MAX_WORDS: usize = 48;

/// The passwords in the call whose command is an anchor.
pub(super) fn find(text: &str, at: &Range<usize>, hits: &mut Vec<Hit>) {
    let before = text[..at.start].chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return;
    }
    let name = &text[at.clone()];
    let rest = part(text, at.end..at.end + MAX_BYTES);
    let mut hit = |word: &str, start: usize| {
        let value = word.trim_matches(['"', '\'']);
        let start = at.end + start + (word.len() - word.trim_start_matches(['"', '\'']).len());
        if is_given(value) {
            let range = start..start + value.len();
            hits.push(Hit { range, rule: "password of a command", sureness: 2 });
        }
    };
    if name.ends_with('=') {
        let assigned = name.chars().next().is_some_and(|c| c.is_ascii_uppercase());
        let first = words(rest).next().filter(|(start, _)| assigned && *start == 0);
        return first.into_iter().for_each(|(start, word)| hit(word, start));
    }
    if name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return;
    }
    let words: Vec<(usize, &str)> = words(rest).take(MAX_WORDS).collect();
    for (i, (start, word)) in words.iter().enumerate() {
        for (_, flags, how) in FLAGS.iter().filter(|(command, ..)| name.starts_with(command)) {
            if let Some((start, value)) = handed(*start, word, words.get(i + 1), flags, *how) {
                hit(value, start);
            }
        }
    }
}

/// What a word, or the one after it, hands over.
fn handed<'a>(
    start: usize,
    word: &'a str,
    next: Option<&(usize, &'a str)>,
    flags: &[&str],
    how: How,
) -> Option<(usize, &'a str)> {
    if let How::Login = how {
        let password = url::slashed(word)?;
        return Some((start + password.start, &word[password]));
    }
    let flag = flags.iter().find(|flag| is_flag(word, flag) || word.starts_with(**flag))?;
    let after = &word[flag.len().min(word.len())..];
    let attached = !flag.starts_with("--") && word.starts_with(flag) && !after.is_empty();
    let (start, value) = match how {
        How::Attached => (start + flag.len(), attached.then_some(after)?),
        _ if is_flag(word, flag) => *next?,
        _ if after.starts_with('=') => (start + flag.len() + 1, &after[1..]),
        How::Behind(_) if attached => (start + flag.len(), after),
        _ => return None,
    };
    let How::Behind(sign) = how else { return Some((start, value)) };
    let (user, password) = value.split_once(sign)?;
    // `-u key:` has the key where the name would be.
    match password.len() < 2 && value::is_random(user.trim_matches(['"', '\''])) {
        true => Some((start, user)),
        false => Some((start + user.len() + sign.len_utf8(), password)),
    }
}

/// Whether a word is a flag, by itself or as the last of several letters: `-sSu`.
fn is_flag(word: &str, flag: &str) -> bool {
    let several = |word: &str| word.len() <= 6 && word.bytes().all(|b| b.is_ascii_alphabetic());
    word == flag
        || flag.len() == 2
            && word.ends_with(&flag[1..])
            && word.strip_prefix('-').is_some_and(several)
}

/// The words of a call with where they begin; quotes keep words together and stay around them.
fn words(rest: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let left = &rest[at..];
            let blank = left.len() - left.trim_start_matches([' ', '\t']).len();
            at += blank;
            match rest[at..].strip_prefix("\\\n").or_else(|| rest[at..].strip_prefix("\\\r\n")) {
                Some(next) => at = rest.len() - next.len(),
                None => break,
            }
        }
        let left = &rest[at..];
        let quote = left.chars().next().filter(|c| matches!(c, '"' | '\''));
        let closed = quote.and_then(|quote| Some(left[1..].split(['\n']).next()?.find(quote)? + 2));
        let ends = |c: char| c.is_whitespace() || matches!(c, '`' | '|' | ';');
        let n = closed.unwrap_or_else(|| left.find(ends).unwrap_or(left.len()));
        let word = (at, &left[..n]);
        at += n;
        (n > 0 && word.1 != "&&").then_some(word)
    })
}

/// Whether a value is a password, and not a variable, a number of a port, or the next flag.
fn is_given(value: &str) -> bool {
    let port = value.len() <= 5 && value.bytes().all(|b| b.is_ascii_digit());
    (3..=200).contains(&value.len())
        && !port
        && !value.starts_with(['$', '-', '@', '<', '%', '('])
        && !value::is_stand_in(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::anchor::{self, Kind};

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        for at in anchor::of(&anchor::anchors(text), Kind::Command) {
            find(text, at, &mut hits);
        }
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn what_a_command_is_handed_is_found() {
        for (text, password) in [
            ("curl -u bob:swordfish https://x", "swordfish"),
            ("curl -sSu bob:swordfish https://x", "swordfish"),
            ("curl https://x \\\n  --user 'bob:sword fish' \\\n -v", "sword fish"),
            ("`curl --user=bob:swordfish https://x`", "swordfish"),
            ("curl -ubob:swordfish https://x", "swordfish"),
            ("curl -u Zk3mQ9xW2vB7nR4tY8pL: https://x", "Zk3mQ9xW2vB7nR4tY8pL"),
            ("/usr/bin/curl -x p --proxy-user \"a:b:c1\" y", "b:c1"),
            ("sshpass -p swordfish ssh bob@x", "swordfish"),
            ("sshpass -p'sword' ssh bob@x", "sword"),
            ("mysql -h db -u root -pswordfish app", "swordfish"),
            ("mysqldump --password=swordfish app", "swordfish"),
            ("redis-cli -h x -a swordfish ping", "swordfish"),
            ("ldapsearch -x -D cn=admin -w swordfish", "swordfish"),
            ("docker login -u bob -p swordfish x", "swordfish"),
            ("smbclient -U bob%swordfish //x/y", "swordfish"),
            ("keytool -list -storepass swordfish", "swordfish"),
            ("openssl rsa -in k -passin pass:swordfish", "swordfish"),
            ("sqlplus bob/swordfish@//db:1521/x", "swordfish"),
            ("PGPASSWORD=swordfish psql -h db", "swordfish"),
            ("export MYSQL_PWD='swordfish'", "swordfish"),
        ] {
            assert_eq!(found(text), [password], "{text}");
        }
    }

    #[test]
    fn flags_variables_and_stand_ins_are_not() {
        for text in [
            "curl -u user:password https://x",
            "curl -u \"$USER:$pw\" https://x",
            "curl -u user:<token> https://x",
            "the curl -u option: it sends a name",
            "curl -u bob https://x:8080/y",
            "mysql -u root -p app",
            "mysql -p3306 app",
            "mysql -P 3306",
            "MySQL -protocol",
            "sshpass -p \"$PASS\" ssh x",
            "sshpass -f file ssh x",
            "redis-cli -a ${REDIS_PASSWORD}",
            "docker login -p $(cat token)",
            "PGPASSWORD=$PW psql",
            "PGPASSWORD= psql",
            "the openssl -passin env:X flag",
            "sqlplus / as sysdba",
        ] {
            assert_eq!(found(text), [] as [&str; 0], "{text}");
        }
    }

    #[test]
    fn every_flag_belongs_to_a_command_that_is_looked_for() {
        for (command, ..) in FLAGS {
            assert!(ANCHORS.iter().any(|anchor| anchor.starts_with(command)), "{command}");
        }
    }

    #[test]
    fn every_command_and_flag_can_fire() {
        let mut silent = Vec::new();
        for anchor in ANCHORS {
            let flags = FLAGS.iter().filter(|(command, ..)| anchor.starts_with(command));
            let calls = flags.flat_map(|(_, flags, how)| {
                flags.iter().map(move |flag| match how {
                    How::Next => format!("{anchor}{flag} swordfish x"),
                    How::Attached => format!("{anchor}{flag}swordfish x"),
                    How::Behind(sign) => format!("{anchor}{flag} bob{sign}swordfish x"),
                    How::Login => String::new(),
                })
            });
            let calls: Vec<String> = match anchor.ends_with('=') {
                true => vec![format!("{}swordfish x", anchor.to_uppercase())],
                false if anchor.starts_with("sqlplus") => vec![format!("{anchor}bob/swordfish@db")],
                false => calls.collect(),
            };
            assert!(!calls.is_empty(), "{anchor}");
            silent.extend(calls.into_iter().filter(|call| found(call) != ["swordfish"]));
        }
        assert_eq!(silent, [] as [String; 0]);
    }
}

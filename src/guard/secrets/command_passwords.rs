//! Passwords on the command line: `curl -u name:password`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use super::{Hit, randomness, slice, url_passwords};
use crate::guard::rules::{COMMANDS, PhraseTable, columns, entries, rules};

/// The place of a password.
#[derive(Clone, Copy)]
enum PasswordPlace {
    /// `-p password` and `--password=password`.
    NextWord,
    /// `-ppassword`.
    Attached,
    /// `-u name:password`, with this separator.
    After(char),
    /// `name/password@host`, without a flag.
    Login,
}

struct CommandRule {
    commands: Vec<&'static str>,
    flags: Vec<&'static str>,
    place: PasswordPlace,
}

static COMMAND_RULES: LazyLock<Vec<CommandRule>> = LazyLock::new(|| {
    let rule = |rule| {
        let [commands, flags, place] = columns(rule);
        let place = match place {
            "next word" => PasswordPlace::NextWord,
            "attached" => PasswordPlace::Attached,
            "login" => PasswordPlace::Login,
            "after :" => PasswordPlace::After(':'),
            "after %" => PasswordPlace::After('%'),
            _ => unreachable!("the rule file names no other place than these: {place}"),
        };
        CommandRule {
            commands: entries(commands).collect(),
            flags: entries(flags).collect(),
            place,
        }
    };
    rules(COMMANDS, "commands").map(rule).collect()
});

static PASSWORD_VARIABLES: PhraseTable = PhraseTable::new(COMMANDS, "password_variables");

/// Returns commands with the space behind them, and variables with `=`.
pub(super) fn anchors() -> impl Iterator<Item = Cow<'static, str>> {
    let commands = COMMAND_RULES.iter().flat_map(|rule| &rule.commands);
    let commands = commands.map(|command| format!("{command} "));
    let variables = PASSWORD_VARIABLES.texts().map(|variable| format!("{variable}="));
    commands.chain(variables).map(Cow::Owned)
}

/// Limits of the text behind a command, in bytes and words.
const MAX_BYTES: usize = 600;
const MAX_WORDS: usize = 48;

/// Finds the passwords in the call of the command at an anchor.
pub(super) fn find(text: &str, at: &Range<usize>, hits: &mut Vec<Hit>) {
    let before = text[..at.start].chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return;
    }
    let name = &text[at.clone()];
    let rest = slice(text, at.end..at.end + MAX_BYTES);
    let mut hit = |word: &str, start: usize| {
        let value = word.trim_matches(['"', '\'']);
        let start = at.end + start + (word.len() - word.trim_start_matches(['"', '\'']).len());
        if is_password(value) {
            let range = start..start + value.len();
            hits.push(Hit { range, rule: "password of a command", confidence: 2 });
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
    let is_called = |rule: &&CommandRule| rule.commands.contains(&name.trim_end());
    for rule in COMMAND_RULES.iter().filter(is_called) {
        for (i, (start, word)) in words.iter().enumerate() {
            if let Some((start, value)) = password_at(*start, word, words.get(i + 1), rule) {
                hit(value, start);
            }
        }
    }
}

/// Returns the password in a word or in the next one.
fn password_at<'a>(
    start: usize,
    word: &'a str,
    next: Option<&(usize, &'a str)>,
    rule: &CommandRule,
) -> Option<(usize, &'a str)> {
    if let PasswordPlace::Login = rule.place {
        let password = url_passwords::password_behind_slash(word)?;
        return Some((start + password.start, &word[password]));
    }
    let flag = rule.flags.iter().find(|flag| is_flag(word, flag) || word.starts_with(**flag))?;
    let after = &word[flag.len().min(word.len())..];
    let attached = !flag.starts_with("--") && word.starts_with(flag) && !after.is_empty();
    let (start, value) = match rule.place {
        PasswordPlace::Attached => (start + flag.len(), attached.then_some(after)?),
        _ if is_flag(word, flag) => *next?,
        _ if after.starts_with('=') => (start + flag.len() + 1, &after[1..]),
        PasswordPlace::After(_) if attached => (start + flag.len(), after),
        _ => return None,
    };
    let PasswordPlace::After(separator) = rule.place else { return Some((start, value)) };
    let (user, password) = value.split_once(separator)?;
    // `-u key:` has the key in place of the name.
    match password.len() < 2 && randomness::is_random(user.trim_matches(['"', '\''])) {
        true => Some((start, user)),
        false => Some((start + user.len() + separator.len_utf8(), password)),
    }
}

/// Returns true if a word is the flag, alone or as the last of several letters: `-sSu`.
fn is_flag(word: &str, flag: &str) -> bool {
    let several = |word: &str| word.len() <= 6 && word.bytes().all(|b| b.is_ascii_alphabetic());
    word == flag
        || flag.len() == 2
            && word.ends_with(&flag[1..])
            && word.strip_prefix('-').is_some_and(several)
}

/// Returns the words of a call with their offsets. Quoted words are one word, with the quotes.
fn words(rest: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let remaining = &rest[at..];
            let blank = remaining.len() - remaining.trim_start_matches([' ', '\t']).len();
            at += blank;
            match rest[at..].strip_prefix("\\\n").or_else(|| rest[at..].strip_prefix("\\\r\n")) {
                Some(next) => at = rest.len() - next.len(),
                None => break,
            }
        }
        let remaining = &rest[at..];
        let quote = remaining.chars().next().filter(|c| matches!(c, '"' | '\''));
        let closed =
            quote.and_then(|quote| Some(remaining[1..].split(['\n']).next()?.find(quote)? + 2));
        let ends = |c: char| c.is_whitespace() || matches!(c, '`' | '|' | ';');
        let n = closed.unwrap_or_else(|| remaining.find(ends).unwrap_or(remaining.len()));
        let word = (at, &remaining[..n]);
        at += n;
        (n > 0 && word.1 != "&&").then_some(word)
    })
}

/// Returns true if a value is a password, and not a variable, a port or the next flag.
fn is_password(value: &str) -> bool {
    let port = value.len() <= 5 && value.bytes().all(|b| b.is_ascii_digit());
    (3..=200).contains(&value.len())
        && !port
        && !value.starts_with(['$', '-', '@', '<', '%', '('])
        && !randomness::is_placeholder(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::anchors::{self, AnchorKind};

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        for at in anchors::of_kind(&anchors::find(text), AnchorKind::Command) {
            find(text, at, &mut hits);
        }
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn finds_passwords_of_commands() {
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
    fn skips_flags_variables_and_placeholders() {
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
}

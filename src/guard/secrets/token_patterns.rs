//! Tokens that begin with a prefix of their service.

use std::ops::Range;
use std::sync::LazyLock;

use super::structured_tokens::{self, STRUCTURED};
use super::{Hit, randomness};
use crate::guard::rules::{TOKEN_PATTERNS, columns, entries, rules};

/// The characters of a token behind its prefix.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Alphabet {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Letters, digits, `_`, `-`, `.`, `=` and `%`, for tokens in parts.
    Parts,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// Hexadecimal digits.
    Hex,
    /// Capitals and digits.
    Capitals,
    /// Letters, digits, `/`, `_` and `-`: the path of a web hook.
    Path,
}

impl Alphabet {
    fn parse(name: &str) -> Alphabet {
        match name {
            "plain" => Alphabet::Plain,
            "url" => Alphabet::Url,
            "parts" => Alphabet::Parts,
            "base64" => Alphabet::Base64,
            "hex" => Alphabet::Hex,
            "capitals" => Alphabet::Capitals,
            "path" => Alphabet::Path,
            _ => unreachable!("the rule file names no other alphabet than these: {name}"),
        }
    }

    pub(super) fn contains(self, b: u8) -> bool {
        match self {
            Alphabet::Plain => b.is_ascii_alphanumeric(),
            Alphabet::Url => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
            Alphabet::Parts => b.is_ascii_alphanumeric() || b"_-.=%".contains(&b),
            Alphabet::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='),
            Alphabet::Hex => b.is_ascii_hexdigit(),
            Alphabet::Capitals => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Alphabet::Path => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'/'),
        }
    }
}

/// The tokens of a service.
#[derive(Debug, Eq, PartialEq)]
struct TokenPattern {
    service: &'static str,
    prefixes: Vec<&'static str>,
    alphabet: Alphabet,
    /// Bounds of the number of characters behind the prefix.
    min: usize,
    max: usize,
}

static PATTERNS: LazyLock<Vec<TokenPattern>> = LazyLock::new(|| {
    let number = |column: &str| column.parse().expect("the last columns are numbers");
    let pattern = |rule| {
        let [service, prefixes, alphabet, min, max] = columns(rule);
        let (prefixes, alphabet) = (entries(prefixes).collect(), Alphabet::parse(alphabet));
        TokenPattern { service, prefixes, alphabet, min: number(min), max: number(max) }
    };
    rules(TOKEN_PATTERNS, "token_patterns").map(pattern).collect()
});

/// The rule that a prefix belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum PrefixOf {
    Pattern(&'static TokenPattern),
    /// An index into `STRUCTURED`.
    Structured(usize),
}

/// Finds prefixes of tokens by their first two bytes.
struct PrefixFinder {
    /// A bit for every two bytes that some prefix begins with.
    pairs: Box<[u64; 1 << 10]>,
    /// Indexes of the first prefix with these two bytes.
    firsts: Vec<u16>,
    /// Prefixes by their first two bytes, the longer ones first.
    prefixes: Vec<(&'static str, PrefixOf)>,
}

static FINDER: LazyLock<PrefixFinder> = LazyLock::new(|| {
    let of_pattern = |pattern: &'static TokenPattern| {
        pattern.prefixes.iter().map(move |prefix| (*prefix, PrefixOf::Pattern(pattern)))
    };
    let structured = STRUCTURED.iter().enumerate();
    let structured = structured.map(|(i, (_, part, _))| (*part, PrefixOf::Structured(i)));
    let mut prefixes: Vec<(&str, PrefixOf)> =
        PATTERNS.iter().flat_map(of_pattern).chain(structured).collect();
    // The sort is stable: of two equal prefixes, the first one counts.
    prefixes.sort_by_key(|(prefix, _)| (pair(prefix.as_bytes()), std::cmp::Reverse(prefix.len())));
    let (mut pairs, mut firsts) = (Box::new([0; _]), vec![0; 1 << 16]);
    for (i, (prefix, _)) in prefixes.iter().enumerate().rev() {
        let pair = pair(prefix.as_bytes());
        pairs[usize::from(pair / 64)] |= 1 << (pair % 64);
        firsts[usize::from(pair)] = i as u16;
    }
    PrefixFinder { pairs, firsts, prefixes }
});

/// Returns the first two bytes. No prefix is shorter.
#[inline]
fn pair(bytes: &[u8]) -> u16 {
    bytes.first_chunk().map_or(0, |pair| u16::from_be_bytes(*pair))
}

impl PrefixFinder {
    /// Finds the longest prefix at each place, from left to right and without overlaps.
    fn all<'s>(&'s self, run: &'s str) -> impl Iterator<Item = (Range<usize>, PrefixOf)> + 's {
        let mut from = 0;
        std::iter::from_fn(move || {
            let (at, prefix, prefix_of) = self.next(&run.as_bytes()[from..])?;
            let at = from + at;
            from = at + prefix.len();
            Some((at..from, prefix_of))
        })
    }

    fn next(&self, bytes: &[u8]) -> Option<(usize, &'static str, PrefixOf)> {
        let mut pair = 0u16;
        for (end, byte) in bytes.iter().enumerate() {
            pair = pair << 8 | u16::from(*byte);
            if self.pairs[usize::from(pair / 64)] >> (pair % 64) & 1 == 1
                && let Some(at) = end.checked_sub(1)
                && let Some((prefix, prefix_of)) = self.longest(pair, &bytes[at..])
            {
                return Some((at, prefix, prefix_of));
            }
        }
        None
    }

    /// Returns the longest prefix of some bytes, the first two of which are `first`.
    fn longest(&self, first: u16, bytes: &[u8]) -> Option<(&'static str, PrefixOf)> {
        let same = self.prefixes[usize::from(self.firsts[usize::from(first)])..].iter();
        let mut same = same.take_while(|(prefix, _)| pair(prefix.as_bytes()) == first);
        same.find(|(prefix, _)| bytes.starts_with(prefix.as_bytes())).copied()
    }
}

/// Finds tokens in a run, also those that Markdown syntax splits.
pub(super) fn find(text: &str, range: &Range<usize>, hits: &mut Vec<Hit>) {
    let run = &text[range.clone()];
    find_in_run(run, |token, rule| {
        let range = range.start + token.start..range.start + token.end;
        hits.push(Hit { range, rule, confidence: 3 });
    });
    structured_tokens::find_discord_tokens(run, range.start, hits);
    let inner = run.trim_matches(|c| "*`~".contains(c)).as_bytes();
    if inner.iter().any(|b| matches!(b, b'\\' | b'&' | b'*' | b'`' | b'~')) {
        let (plain, offsets) = without_markdown(run);
        find_in_run(&plain, |token, rule| {
            let (start, end) = (offsets[token.start], offsets[token.end - 1] + 1);
            hits.push(Hit { range: range.start + start..range.start + end, rule, confidence: 3 });
        });
    }
}

/// Reports the range and rule of every token in a run.
pub(super) fn find_in_run(run: &str, mut report: impl FnMut(Range<usize>, &'static str)) {
    for (prefix, prefix_of) in FINDER.all(run) {
        match prefix_of {
            PrefixOf::Pattern(pattern) => {
                if let Some(range) = match_pattern(run, prefix.clone(), pattern) {
                    report(range, pattern.service);
                } else if run[prefix.clone()].ends_with("eyJ")
                    && let Some(range) = structured_tokens::json_web_token(run, prefix.end - 3)
                {
                    report(range, "json web token");
                }
            }
            PrefixOf::Structured(index) => {
                let (rule, _, check) = STRUCTURED[index];
                if let Some(range) = check(run, prefix.start) {
                    report(range, rule);
                }
            }
        }
    }
}

/// Prefixes that begin no word although they are short or end in a letter.
const UNMISTAKABLE: &[&str] = &["AKIA", "ASIA", "AIza", "sk-", "eyJ"];

/// Returns the start of a token that reaches the end of a run, and may continue in the next line.
pub(super) fn unfinished(run: &str) -> Option<usize> {
    let is_unfinished = |(at, prefix_of): &(Range<usize>, PrefixOf)| {
        let prefix = &run[at.clone()];
        let unmistakable =
            UNMISTAKABLE.contains(&prefix) && !is_inside_word(&run.as_bytes()[..at.start]);
        let alphabet = match prefix_of {
            PrefixOf::Pattern(pattern) => pattern.alphabet,
            PrefixOf::Structured(_) => Alphabet::Parts,
        };
        (unmistakable || is_distinct(prefix))
            && run.bytes().skip(at.end).all(|b| alphabet.contains(b))
    };
    FINDER.all(run).find(is_unfinished).map(|(at, _)| at.start)
}

/// Returns true if a prefix is not part of a word, so that a token may begin in the middle of a
/// run.
fn is_distinct(prefix: &str) -> bool {
    prefix.len() >= 4 && prefix.ends_with(['_', '-', '.', '/', '=']) && prefix != "key-"
}

/// Counts the bytes that fit, up to one more than the maximum.
pub(super) fn count_up_to(max: usize, bytes: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take(max + 1).take_while(|b| fits(**b)).count()
}

fn match_pattern(run: &str, prefix: Range<usize>, pattern: &TokenPattern) -> Option<Range<usize>> {
    let TokenPattern { alphabet, min, max, .. } = *pattern;
    let bytes = run.as_bytes();
    let prefix_text = &run[prefix.clone()];
    if !is_distinct(prefix_text)
        && bytes[prefix.start] != b'.'
        && is_inside_word(&bytes[..prefix.start])
    {
        return None;
    }
    let n = count_up_to(max, &bytes[prefix.end..], |b| alphabet.contains(b));
    let body = &run[prefix.end..prefix.end + n];
    // Final punctuation is not part of the token, unless the token is too short without it.
    let trimmed = body.trim_end_matches(['.', '-', '_']);
    let body = if trimmed.len() >= min { trimmed } else { body };
    // Words with dashes between them are not a token, nor are words behind a short prefix.
    let may_be_words = prefix_text.len() < 4
        || matches!(alphabet, Alphabet::Url | Alphabet::Parts | Alphabet::Path | Alphabet::Base64);
    let is_token = match may_be_words {
        true => randomness::is_mixed_token(body),
        false => randomness::is_token(body),
    };
    let fits = (min..=max).contains(&body.len()) && is_token;
    fits.then(|| prefix.start..prefix.end + body.len())
}

/// Returns true if the bytes end within a word. Escapes such as `\n` and `%3D` are not words.
fn is_inside_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b't' | b'r'] => false,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => false,
        [.., last] => last.is_ascii_alphanumeric(),
        [] => false,
    }
}

/// Returns a run without Markdown's escapes and emphasis, and the original offset of each byte.
fn without_markdown(run: &str) -> (String, Vec<usize>) {
    let mut plain = String::with_capacity(run.len());
    let mut offsets = Vec::with_capacity(run.len());
    let mut at = 0;
    while let Some(b) = run.as_bytes().get(at) {
        let entity = if *b == b'&' { entity(&run[at..]) } else { None };
        let (c, n) = match (b, entity) {
            (_, Some(found)) => found,
            (b'\\' | b'*' | b'`' | b'~', _) => ('\0', 1),
            _ => (*b as char, 1),
        };
        if c != '\0' {
            plain.push(c);
            offsets.push(at);
        }
        at += n;
    }
    (plain, offsets)
}

/// Returns the ASCII character of an entity, `&#95;`, `&#x5f;` or `&lowbar;`, and its length.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(12).position(|b| b == b';')?;
    let name = &text[1..end];
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hex) => u8::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        },
        None => match name {
            "lowbar" | "UnderBar" => b'_',
            "hyphen" | "dash" => b'-',
            "period" => b'.',
            "colon" => b':',
            "equals" => b'=',
            _ => return None,
        },
    };
    code.is_ascii_graphic().then_some((code as char, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_same_prefixes_as_an_automaton() {
        let automaton = aho_corasick::AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(FINDER.prefixes.iter().map(|(prefix, _)| prefix))
            .expect("a short list of short strings can be compiled");
        assert!(FINDER.prefixes.iter().all(|(prefix, _)| prefix.len() >= 2));
        let mut state = 9u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..20_000 {
            let mut run = String::new();
            for _ in 0..5 {
                let prefix = FINDER.prefixes[random(FINDER.prefixes.len())].0;
                run += &prefix[random(prefix.len())..];
                run += ["", "x", "-", "é"][random(4)];
                run += &prefix[..random(prefix.len() + 1)];
            }
            let found = |at: aho_corasick::Match| (at.range(), at.pattern().as_usize());
            let expected = automaton.find_iter(&run).map(found);
            let expected: Vec<_> =
                expected.map(|(range, i)| (range, FINDER.prefixes[i].1)).collect();
            assert_eq!(FINDER.all(&run).collect::<Vec<_>>(), expected, "{run}");
        }
    }

    fn found(run: &str) -> Vec<(Range<usize>, &'static str)> {
        let mut found = Vec::new();
        find_in_run(run, |range, rule| found.push((range, rule)));
        found
    }

    /// Returns N characters that look random.
    fn body(alphabet: Alphabet, n: usize) -> String {
        let plain = "Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUq";
        let characters = match alphabet {
            Alphabet::Hex => "9f8b2c4d1e7a6350b4c2d8e1f7a93b60".to_string(),
            Alphabet::Capitals => plain.to_uppercase(),
            _ => plain.to_string(),
        };
        characters.chars().cycle().take(n).collect()
    }

    #[test]
    fn every_pattern_finds_its_own_tokens() {
        for TokenPattern { service, prefixes, alphabet, min, max } in &*PATTERNS {
            for prefix in prefixes {
                for n in [*min, *max] {
                    let token = format!("{prefix}{}", body(*alphabet, n));
                    assert_eq!(found(&token), [(0..token.len(), *service)], "{token}");
                }
                let short = format!("{prefix}{}", body(*alphabet, *min - 1));
                assert!(!found(&short).iter().any(|(_, rule)| rule == service), "{short}");
                let placeholder = format!("{prefix}{}", "x".repeat(*min));
                assert_eq!(found(&placeholder), [], "{placeholder}");
            }
        }
    }

    #[test]
    fn finds_structured_tokens() {
        let hex = "9f8b2c4d1e7a6350b4c2d8e1f7a93b60";
        let plain = body(Alphabet::Plain, 84);
        let tokens = [
            ("azure key", format!("{}JQQJ99{}", &plain[..52], &plain[..26])),
            ("mailchimp key", format!("{hex}-us12")),
            ("new relic key", format!("{hex}9f8bNRAL")),
            ("new relic key", format!("eu01xx{}NRAL", &hex[..30])),
            ("maxmind key", format!("{}_{}_mmk", &plain[..6], &plain[..29])),
            ("airtable token", format!("pat{}.{hex}{hex}", &plain[..14])),
            ("clickup token", format!("pk_1234567_{}", body(Alphabet::Capitals, 32))),
            ("1password secret key", "A3-AB3DE6-GH1JKL-MN2PQ-RS3TU-VW4YZ-AB5DE".to_string()),
            ("braintree token", format!("access_token$production${}${hex}", &hex[..16])),
            ("json web token", format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.{}", &plain[..20])),
            ("telegram token", format!("123456789:AA{}", &plain[..33])),
            ("azure client secret", format!("{}8Q~{}", &plain[..3], &plain[..34])),
        ];
        for (rule, ..) in STRUCTURED.iter().filter(|(rule, ..)| *rule != "azure signature") {
            assert!(tokens.iter().any(|(tried, _)| tried == rule), "{rule}");
        }
        let signed = format!("https://x.blob.core.windows.net/a?sig={}%3D", &plain[..43]);
        assert_eq!(found(&signed).len(), 1, "{signed}");
        for (rule, token) in tokens {
            assert_eq!(found(&token), [(0..token.len(), rule)], "{token}");
        }
        for text in ["https://x/en-us12/path", "pattern.matching", "pk_live_abc", "A3-B4-C5"] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}

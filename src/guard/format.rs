//! Tokens whose service gave them a form of their own.

use std::ops::Range;
use std::sync::LazyLock;

use super::form::{FORMS, Form, Of};
use super::secret::Hit;
use super::special::{self, SPECIAL};
use super::value;

/// What begins with a string: a form, or something special.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Begun {
    Form(&'static Form),
    Special(usize),
}

/// Every beginning of a token, found by its first two signs.
struct Finder {
    /// A bit for every two signs that some token begins with.
    pairs: Box<[u64; 1 << 10]>,
    /// Where the beginnings with these two signs are.
    firsts: Vec<u16>,
    /// Beginnings by those two signs, the longer ones first.
    starts: Vec<(&'static str, Begun)>,
}

static FINDER: LazyLock<Finder> = LazyLock::new(|| {
    let of_form = |form: &'static Form| form.1.iter().map(move |start| (*start, Begun::Form(form)));
    let special = SPECIAL.iter().enumerate().map(|(i, (_, start, _))| (*start, Begun::Special(i)));
    let mut starts: Vec<(&str, Begun)> = FORMS.iter().flat_map(of_form).chain(special).collect();
    // Of two that are alike, the first one stays first.
    starts.sort_by_key(|(start, _)| (pair(start.as_bytes()), std::cmp::Reverse(start.len())));
    let (mut pairs, mut firsts) = (Box::new([0; _]), vec![0; 1 << 16]);
    for (i, (start, _)) in starts.iter().enumerate().rev() {
        let pair = pair(start.as_bytes());
        pairs[usize::from(pair / 64)] |= 1 << (pair % 64);
        firsts[usize::from(pair)] = i as u16;
    }
    Finder { pairs, firsts, starts }
});

/// The first two of some signs; no beginning is shorter.
#[inline]
fn pair(signs: &[u8]) -> u16 {
    signs.first_chunk().map_or(0, |pair| u16::from_be_bytes(*pair))
}

impl Finder {
    /// The longest beginning at each place, from left to right, none within another.
    fn all<'s>(&'s self, signs: &'s str) -> impl Iterator<Item = (Range<usize>, Begun)> + 's {
        let mut from = 0;
        std::iter::from_fn(move || {
            let (at, start, begun) = self.next(&signs.as_bytes()[from..])?;
            let at = from + at;
            from = at + start.len();
            Some((at..from, begun))
        })
    }

    fn next(&self, signs: &[u8]) -> Option<(usize, &'static str, Begun)> {
        let mut two = 0u16;
        for (end, sign) in signs.iter().enumerate() {
            two = two << 8 | u16::from(*sign);
            if self.pairs[usize::from(two / 64)] >> (two % 64) & 1 == 1
                && let Some(at) = end.checked_sub(1)
                && let Some((start, begun)) = self.longest(two, &signs[at..])
            {
                return Some((at, start, begun));
            }
        }
        None
    }

    /// The longest beginning of these signs, by the first two of them.
    fn longest(&self, two: u16, signs: &[u8]) -> Option<(&'static str, Begun)> {
        let alike = self.starts[usize::from(self.firsts[usize::from(two)])..].iter();
        let mut alike = alike.take_while(|(start, _)| pair(start.as_bytes()) == two);
        alike.find(|(start, _)| signs.starts_with(start.as_bytes())).copied()
    }
}

/// Tokens in a run of signs, also where Markdown split them.
pub(super) fn find(text: &str, run: &Range<usize>, hits: &mut Vec<Hit>) {
    let signs = &text[run.clone()];
    in_signs(signs, |range, rule| {
        let range = run.start + range.start..run.start + range.end;
        hits.push(Hit { range, rule, sureness: 3 });
    });
    special::dotted(signs, run.start, hits);
    let inner = signs.trim_matches(|c| "*`~".contains(c)).as_bytes();
    if inner.iter().any(|b| matches!(b, b'\\' | b'&' | b'*' | b'`' | b'~')) {
        let (whole, places) = unescaped(signs);
        in_signs(&whole, |range, rule| {
            let range = run.start + places[range.start]..run.start + places[range.end - 1] + 1;
            hits.push(Hit { range, rule, sureness: 3 });
        });
    }
}

pub(super) fn in_signs(signs: &str, mut found: impl FnMut(Range<usize>, &'static str)) {
    for (start, begun) in FINDER.all(signs) {
        match begun {
            Begun::Form(form) => {
                if let Some(range) = of_form(signs, start.clone(), form) {
                    found(range, form.0);
                } else if signs[start.clone()].ends_with("eyJ")
                    && let Some(range) = special::json_web_token(signs, start.end - 3)
                {
                    found(range, "json web token");
                }
            }
            Begun::Special(which) => {
                let (rule, _, check) = SPECIAL[which];
                if let Some(range) = check(signs, start.start) {
                    found(range, rule);
                }
            }
        }
    }
}

/// Beginnings that no word has, besides those that end in a sign.
const CLEAR: &[&str] = &["AKIA", "ASIA", "AIza", "sk-", "eyJ"];

/// Where a token begins that goes on to the end of a run of signs, and perhaps beyond.
pub(super) fn unfinished(signs: &str) -> Option<usize> {
    let begins = |(at, begun): &(Range<usize>, Begun)| {
        let prefix = &signs[at.clone()];
        let clear = CLEAR.contains(&prefix) && !is_inside(&signs.as_bytes()[..at.start]);
        let of = match begun {
            Begun::Form(form) => form.2,
            Begun::Special(_) => Of::Parts,
        };
        (clear || is_own(prefix)) && signs.bytes().skip(at.end).all(|b| of.has(b))
    };
    FINDER.all(signs).find(begins).map(|(at, _)| at.start)
}

/// Whether a beginning is no part of any word, so that it may also stand in the middle of signs.
fn is_own(prefix: &str) -> bool {
    prefix.len() >= 4 && prefix.ends_with(['_', '-', '.', '/', '=']) && prefix != "key-"
}

/// How many bytes fit; one more than the most is enough to know that it is too many.
pub(super) fn length(bytes: &[u8], most: usize, fits: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take(most + 1).take_while(|b| fits(**b)).count()
}

fn of_form(signs: &str, start: Range<usize>, form: &Form) -> Option<Range<usize>> {
    let (_, _, of, least, most) = form;
    let bytes = signs.as_bytes();
    let prefix = &signs[start.clone()];
    // What stands in the middle of a token is known by what stands around it, unless its beginning
    // is no part of any word.
    if !is_own(prefix) && bytes[start.start] != b'.' && is_inside(&bytes[..start.start]) {
        return None;
    }
    let n = length(&bytes[start.end..], *most, |b| of.has(b));
    let body = &signs[start.end..start.end + n];
    // What ends a sentence is not part of the token, unless it is too short without.
    let bare = body.trim_end_matches(['.', '-', '_']);
    let body = if bare.len() >= *least { bare } else { body };
    // Words with dashes between are no token; nor are words behind a short beginning.
    let strict = prefix.len() < 4 || matches!(of, Of::Url | Of::Parts | Of::Path | Of::Base64);
    let fits = (*least..=*most).contains(&body.len()) && value::is_token(body, strict);
    fits.then(|| start.start..start.end + body.len())
}

/// Whether what ends here goes on: a letter or digit that is none of an escape's, `\\n` or `%3D`.
fn is_inside(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b't' | b'r'] => false,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => false,
        [.., last] => last.is_ascii_alphanumeric(),
        [] => false,
    }
}

/// A run without the signs that Markdown takes out, and where each byte of it was.
fn unescaped(signs: &str) -> (String, Vec<usize>) {
    let mut whole = String::with_capacity(signs.len());
    let mut places = Vec::with_capacity(signs.len());
    let mut at = 0;
    while let Some(b) = signs.as_bytes().get(at) {
        let entity = if *b == b'&' { entity(&signs[at..]) } else { None };
        let (c, n) = match (b, entity) {
            (_, Some(found)) => found,
            (b'\\' | b'*' | b'`' | b'~', _) => ('\0', 1),
            _ => (*b as char, 1),
        };
        if c != '\0' {
            whole.push(c);
            places.push(at);
        }
        at += n;
    }
    (whole, places)
}

/// An ASCII sign written as `&#95;`, `&#x5f;` or by one of the names it has, and its length.
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
    fn beginnings_are_those_that_an_automaton_finds() {
        let plain = aho_corasick::AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(FINDER.starts.iter().map(|(start, _)| start))
            .expect("a short list of short strings can be compiled");
        assert!(FINDER.starts.iter().all(|(start, _)| start.len() >= 2));
        let mut state = 9u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..20_000 {
            let mut signs = String::new();
            for _ in 0..5 {
                let start = FINDER.starts[random(FINDER.starts.len())].0;
                signs += &start[random(start.len())..];
                signs += ["", "x", "-", "é"][random(4)];
                signs += &start[..random(start.len() + 1)];
            }
            let found = |at: aho_corasick::Match| (at.range(), at.pattern().as_usize());
            let expected = plain.find_iter(&signs).map(found);
            let expected: Vec<_> = expected.map(|(range, i)| (range, FINDER.starts[i].1)).collect();
            assert_eq!(FINDER.all(&signs).collect::<Vec<_>>(), expected, "{signs}");
        }
    }

    fn found(signs: &str) -> Vec<(Range<usize>, &'static str)> {
        let mut found = Vec::new();
        in_signs(signs, |range, rule| found.push((range, rule)));
        found
    }

    /// So many signs that look drawn at random.
    fn body(of: Of, n: usize) -> String {
        let plain = "Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUq";
        let signs = match of {
            Of::Hex => "9f8b2c4d1e7a6350b4c2d8e1f7a93b60".to_string(),
            Of::Capitals => plain.to_uppercase(),
            _ => plain.to_string(),
        };
        signs.chars().cycle().take(n).collect()
    }

    #[test]
    fn every_form_finds_its_own_tokens() {
        for (rule, prefixes, of, least, most) in FORMS {
            for prefix in *prefixes {
                for n in [*least, *most] {
                    let token = format!("{prefix}{}", body(*of, n));
                    assert_eq!(found(&token), [(0..token.len(), *rule)], "{token}");
                }
                let short = format!("{prefix}{}", body(*of, *least - 1));
                assert!(!found(&short).iter().any(|(_, found)| found == rule), "{short}");
                let stand_in = format!("{prefix}{}", "x".repeat(*least));
                assert_eq!(found(&stand_in), [], "{stand_in}");
            }
        }
    }

    #[test]
    fn forms_that_are_more_than_a_beginning_are_found() {
        let hex = "9f8b2c4d1e7a6350b4c2d8e1f7a93b60";
        let plain = body(Of::Plain, 84);
        let tokens = [
            ("azure key", format!("{}JQQJ99{}", &plain[..52], &plain[..26])),
            ("mailchimp key", format!("{hex}-us12")),
            ("new relic key", format!("{hex}9f8bNRAL")),
            ("new relic key", format!("eu01xx{}NRAL", &hex[..30])),
            ("maxmind key", format!("{}_{}_mmk", &plain[..6], &plain[..29])),
            ("airtable token", format!("pat{}.{hex}{hex}", &plain[..14])),
            ("clickup token", format!("pk_1234567_{}", body(Of::Capitals, 32))),
            ("1password secret key", "A3-AB3DE6-GH1JKL-MN2PQ-RS3TU-VW4YZ-AB5DE".to_string()),
            ("braintree token", format!("access_token$production${}${hex}", &hex[..16])),
            ("json web token", format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.{}", &plain[..20])),
            ("telegram token", format!("123456789:AA{}", &plain[..33])),
            ("azure client secret", format!("{}8Q~{}", &plain[..3], &plain[..34])),
        ];
        for (rule, ..) in SPECIAL.iter().filter(|(rule, ..)| *rule != "azure signature") {
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

//! Tokens whose service gave them a form of their own.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::secret::Hit;
use super::{base64, value};

/// Which signs a token is made of.
#[derive(Clone, Copy)]
enum Of {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Url,
    /// The same with `.`, `=` and `%`, for tokens in parts.
    Parts,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// Hexadecimal digits.
    Hex,
    /// Capitals and digits.
    Capitals,
    /// Letters, digits and `/`, `_`, `-`: the rest of a web hook's address.
    Path,
}

impl Of {
    fn has(self, b: u8) -> bool {
        match self {
            Of::Plain => b.is_ascii_alphanumeric(),
            Of::Url => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
            Of::Parts => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'=' | b'%'),
            Of::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='),
            Of::Hex => b.is_ascii_hexdigit(),
            Of::Capitals => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Of::Path => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'/'),
        }
    }
}

/// A service, what its tokens begin with, the signs that follow, at least and at most how many.
type Form = (&'static str, &'static [&'static str], Of, usize, usize);

/// Forms as they are publicly known. Where a service's lengths vary, the bounds are wide.
const FORMS: &[Form] = &[
    ("aws access key", &["AKIA", "ASIA", "ABIA", "ACCA"], Of::Capitals, 16, 16),
    ("google api key", &["AIza"], Of::Url, 35, 35),
    ("google oauth token", &["ya29."], Of::Parts, 20, 1000),
    ("google oauth secret", &["GOCSPX-"], Of::Url, 28, 28),
    ("azure key", &["AccountKey=", "SharedAccessKey=", "accountKey="], Of::Base64, 40, 100),
    ("github token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Of::Plain, 36, 255),
    ("github token", &["github_pat_"], Of::Url, 22, 255),
    (
        "gitlab token",
        &["glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glsoat-"],
        Of::Parts,
        20,
        300,
    ),
    ("gitlab token", &["glft-", "glimt-", "glagent-", "gloas-", "GR1348941"], Of::Parts, 20, 300),
    ("slack token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-"], Of::Parts, 10, 400),
    ("slack token", &["xoxd-", "xoxe-", "xoxe.", "xapp-"], Of::Parts, 10, 400),
    (
        "slack web hook",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/"],
        Of::Path,
        20,
        200,
    ),
    ("discord web hook", &["discord.com/api/webhooks/"], Of::Path, 40, 200),
    ("discord web hook", &["discordapp.com/api/webhooks/"], Of::Path, 40, 200),
    ("teams web hook", &["webhook.office.com/webhookb2/"], Of::Path, 40, 400),
    ("stripe key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], Of::Plain, 16, 255),
    ("stripe web hook secret", &["whsec_"], Of::Base64, 24, 100),
    ("anthropic key", &["sk-ant-"], Of::Url, 20, 255),
    ("openai key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], Of::Url, 20, 255),
    ("openai key", &["sk-"], Of::Plain, 32, 64),
    ("openrouter key", &["sk-or-v1-"], Of::Hex, 64, 64),
    ("npm token", &["npm_"], Of::Plain, 36, 36),
    ("pypi token", &["pypi-AgE"], Of::Url, 16, 400),
    ("crates.io token", &["cio"], Of::Plain, 32, 32),
    ("rubygems token", &["rubygems_"], Of::Hex, 48, 48),
    ("twilio key", &["SK"], Of::Hex, 32, 32),
    ("sendgrid key", &["SG."], Of::Parts, 60, 70),
    ("mailgun key", &["key-"], Of::Hex, 32, 32),
    ("digitalocean token", &["dop_v1_", "doo_v1_", "dor_v1_"], Of::Hex, 64, 64),
    ("heroku token", &["HRKU-"], Of::Url, 30, 80),
    ("hugging face token", &["hf_", "api_org_"], Of::Plain, 30, 40),
    ("vault token", &["hvs.", "hvb.", "hvr."], Of::Url, 24, 300),
    ("databricks token", &["dapi"], Of::Hex, 32, 32),
    ("shopify token", &["shpat_", "shpca_", "shppa_", "shpss_"], Of::Hex, 32, 32),
    ("square token", &["sq0atp-", "sq0csp-", "sq0idp-"], Of::Url, 22, 60),
    ("square token", &["EAAA"], Of::Url, 56, 64),
    ("linear token", &["lin_api_", "lin_oauth_"], Of::Plain, 32, 80),
    ("notion token", &["secret_", "ntn_"], Of::Plain, 40, 60),
    (
        "doppler token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        Of::Parts,
        40,
        80,
    ),
    ("age key", &["AGE-SECRET-KEY-1"], Of::Capitals, 58, 58),
    ("grafana token", &["glsa_", "glc_"], Of::Parts, 32, 255),
    ("new relic key", &["NRAK-", "NRJS-", "NRII-"], Of::Url, 18, 40),
    ("planetscale token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Of::Parts, 32, 64),
    ("postman key", &["PMAK-"], Of::Url, 40, 80),
    ("figma token", &["figd_"], Of::Url, 30, 80),
    ("atlassian token", &["ATATT3", "ATCTT3"], Of::Parts, 60, 300),
    ("bitbucket password", &["ATBB"], Of::Plain, 32, 40),
    ("supabase token", &["sbp_"], Of::Hex, 40, 40),
    ("replicate token", &["r8_"], Of::Plain, 37, 37),
    ("sentry token", &["sntrys_", "sntryu_"], Of::Parts, 40, 400),
    ("tailscale key", &["tskey-"], Of::Url, 16, 80),
    ("pulumi token", &["pul-"], Of::Hex, 40, 40),
    ("artifactory key", &["AKCp"], Of::Plain, 60, 80),
    ("groq key", &["gsk_"], Of::Plain, 48, 60),
    ("perplexity key", &["pplx-"], Of::Plain, 40, 60),
    ("xai key", &["xai-"], Of::Plain, 70, 90),
    ("circleci token", &["CCIPAT_"], Of::Url, 30, 100),
    ("fly.io token", &["fo1_", "fm1r_", "fm2_"], Of::Base64, 40, 1000),
    ("buildkite token", &["bkua_"], Of::Hex, 40, 40),
    ("netlify token", &["nfp_"], Of::Plain, 36, 44),
    ("sourcegraph token", &["sgp_"], Of::Url, 40, 80),
    ("dropbox token", &["sl.B", "sl.u."], Of::Url, 100, 1200),
    ("mapbox token", &["sk.eyJ"], Of::Parts, 60, 300),
    ("terraform token", &[".atlasv1."], Of::Url, 60, 80),
    ("docker token", &["dckr_pat_", "dckr_oat_"], Of::Url, 20, 80),
    ("brevo key", &["xkeysib-", "xsmtpsib-"], Of::Url, 60, 120),
    ("hubspot token", &["pat-na1-", "pat-eu1-", "pat-na2-"], Of::Url, 36, 36),
    ("sonar token", &["squ_", "sqp_", "sqa_"], Of::Hex, 40, 40),
    ("facebook token", &["EAAC", "EAAB", "EAAG"], Of::Plain, 60, 300),
    ("amazon mws token", &["amzn.mws."], Of::Url, 36, 36),
    ("alibaba key", &["LTAI"], Of::Plain, 16, 24),
    ("tencent key", &["AKID"], Of::Plain, 32, 32),
    ("dynatrace token", &["dt0c01.", "dt0s01.", "dt0s16."], Of::Parts, 60, 120),
    ("1password token", &["ops_eyJ"], Of::Base64, 100, 2000),
    ("openshift token", &["sha256~"], Of::Url, 43, 43),
    ("supabase key", &["sb_secret_"], Of::Url, 20, 60),
    ("pinecone key", &["pcsk_"], Of::Url, 40, 80),
    ("langsmith key", &["lsv2_pt_", "lsv2_sk_"], Of::Url, 32, 60),
    ("elevenlabs key", &["sk_"], Of::Hex, 48, 48),
    ("resend key", &["re_"], Of::Url, 30, 40),
    ("posthog key", &["phx_", "phc_"], Of::Plain, 40, 60),
    ("contentful token", &["CFPAT-"], Of::Url, 43, 43),
    ("clojars token", &["CLOJARS_"], Of::Plain, 60, 60),
    ("shippo token", &["shippo_live_", "shippo_test_"], Of::Hex, 40, 40),
    ("easypost key", &["EZAK", "EZTK"], Of::Plain, 54, 60),
    ("duffel token", &["duffel_live_", "duffel_test_"], Of::Url, 43, 43),
    ("typeform token", &["tfp_"], Of::Parts, 40, 80),
    ("readme key", &["rdme_"], Of::Plain, 60, 80),
    ("prefect key", &["pnu_", "pnb_"], Of::Plain, 36, 36),
    ("adafruit key", &["aio_"], Of::Plain, 28, 28),
    ("infracost key", &["ico-"], Of::Plain, 32, 32),
    ("gitlab token", &["glffct-"], Of::Parts, 20, 300),
    ("stripe key", &["sk_org_", "rk_prod_", "sk_prod_"], Of::Plain, 16, 255),
    ("nuget key", &["oy2"], Of::Plain, 43, 43),
    ("extended private key", &["xprv", "yprv", "zprv"], Of::Plain, 100, 112),
    ("snyk token", &["snyk_uat.", "snyk_sat."], Of::Parts, 20, 200),
    ("cloudflare key", &["v1.0-"], Of::Url, 100, 200),
    ("sendinblue key", &["SIB-"], Of::Url, 40, 100),
];

/// Forms that are not a beginning and a number of signs.
const SPECIAL: &[(&str, &str, Check)] = &[
    ("json web token", "eyJ", json_web_token),
    ("telegram token", ":AA", telegram_token),
    ("azure client secret", "8Q~", azure_secret),
    ("azure signature", "sig=", azure_signature),
];

type Check = fn(&str, usize) -> Option<Range<usize>>;

struct Finder {
    automaton: AhoCorasick,
    /// Which form each string of the automaton begins; those beyond are special.
    forms: Vec<usize>,
}

static FINDER: LazyLock<Finder> = LazyLock::new(|| {
    let each = || {
        let starts =
            |(i, form): (usize, &'static Form)| form.1.iter().map(move |start| (i, *start));
        FORMS.iter().enumerate().flat_map(starts)
    };
    let special = SPECIAL.iter().map(|(_, start, _)| *start);
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(each().map(|(_, start)| start).chain(special))
        .expect("a short list of short strings can be compiled");
    Finder { automaton, forms: each().map(|(i, _)| i).collect() }
});

/// Tokens in a run of signs, also where Markdown split them.
pub(super) fn find(text: &str, run: &Range<usize>, hits: &mut Vec<Hit>) {
    let signs = &text[run.clone()];
    in_signs(signs, |range, rule| {
        let range = run.start + range.start..run.start + range.end;
        hits.push(Hit { range, rule, sureness: 3 });
    });
    dotted(signs, run.start, hits);
    let inner = signs.trim_matches(|c| "*`~".contains(c)).as_bytes();
    if inner.iter().any(|b| matches!(b, b'\\' | b'&' | b'*' | b'`' | b'~')) {
        let (whole, places) = unescaped(signs);
        in_signs(&whole, |range, rule| {
            let range = run.start + places[range.start]..run.start + places[range.end - 1] + 1;
            hits.push(Hit { range, rule, sureness: 3 });
        });
    }
}

fn in_signs(signs: &str, mut found: impl FnMut(Range<usize>, &'static str)) {
    let finder = &*FINDER;
    for start in finder.automaton.find_iter(signs) {
        let pattern = start.pattern().as_usize();
        match finder.forms.get(pattern) {
            Some(form) => {
                if let Some(range) = of_form(signs, start.range(), &FORMS[*form]) {
                    found(range, FORMS[*form].0);
                } else if signs[start.range()].ends_with("eyJ")
                    && let Some(range) = json_web_token(signs, start.end() - 3)
                {
                    found(range, "json web token");
                }
            }
            None => {
                let (rule, _, check) = SPECIAL[pattern - finder.forms.len()];
                if let Some(range) = check(signs, start.start()) {
                    found(range, rule);
                }
            }
        }
    }
}

/// No token is longer than this.
const MAX_TOKEN: usize = 8_192;

/// Nor the header of one than this.
const MAX_HEADER: usize = 2_048;

/// How many bytes fit; one more than the most is enough to know that it is too many.
fn length(bytes: &[u8], most: usize, fits: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take(most + 1).take_while(|b| fits(**b)).count()
}

fn of_form(signs: &str, start: Range<usize>, form: &Form) -> Option<Range<usize>> {
    let (_, _, of, least, most) = form;
    let bytes = signs.as_bytes();
    let prefix = &signs[start.clone()];
    // What stands in the middle of a token is known by what stands around it, unless its beginning
    // is no part of any word.
    let own = prefix.len() >= 4 && prefix.ends_with(['_', '-', '.', '/', '=']) && prefix != "key-";
    if !own && bytes[start.start] != b'.' && is_inside(&bytes[..start.start]) {
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

/// Three parts of base64, the first of which is JSON that names an algorithm.
fn json_web_token(signs: &str, at: usize) -> Option<Range<usize>> {
    let bytes = signs.as_bytes();
    let end = at + memchr::memchr(b'.', &bytes[at..bytes.len().min(at + MAX_HEADER)])?;
    let header = base64::decoded(&bytes[at..end]);
    memchr::memmem::find(&header, b"\"alg\"")?;
    let n = length(&bytes[at..], MAX_TOKEN, |b| Of::Url.has(b) || b == b'.');
    let token = signs[at..at + n].trim_end_matches('.');
    let rest = token.get(end - at + 1..)?;
    (rest.len() >= 16 && rest.contains('.')).then(|| at..at + token.len())
}

/// `123456789:AA…`, the number of a bot and its key.
fn telegram_token(signs: &str, at: usize) -> Option<Range<usize>> {
    let n_digits = signs[..at].bytes().rev().take(11).take_while(u8::is_ascii_digit).count();
    let key = length(&signs.as_bytes()[at + 1..], 36, |b| Of::Url.has(b));
    let fits = (8..=10).contains(&n_digits) && (33..=36).contains(&key);
    fits.then(|| at - n_digits..at + 1 + key)
}

/// Three signs, `8Q~` or the like, and some thirty more.
fn azure_secret(signs: &str, at: usize) -> Option<Range<usize>> {
    let sign = |b: u8| Of::Url.has(b) || matches!(b, b'~' | b'.');
    let before = signs[..at].bytes().rev().take(4).take_while(|b| sign(*b)).count();
    let after = length(&signs.as_bytes()[at + 3..], 36, sign);
    let fits = before == 3 && (30..=36).contains(&after);
    fits.then(|| at - 3..at + 3 + after)
}

/// The signature among the parameters of an address.
fn azure_signature(signs: &str, at: usize) -> Option<Range<usize>> {
    let asked = signs[..at].ends_with(['&', '?', ';']);
    let sign = |b: u8| Of::Parts.has(b) || Of::Base64.has(b);
    let n = length(&signs.as_bytes()[at + 4..], 120, sign);
    (asked && (40..=120).contains(&n)).then(|| at + 4..at + 4 + n)
}

/// The token of a Discord bot: its number in base64, a time and a signature.
fn dotted(signs: &str, start: usize, hits: &mut Vec<Hit>) {
    if !(55..=4096).contains(&signs.len()) {
        return;
    }
    let mut at = start;
    for word in signs.split(|c: char| !c.is_ascii() || !(Of::Url.has(c as u8) || c == '.')) {
        if (58..=76).contains(&word.len()) && is_discord(word) {
            hits.push(Hit { range: at..at + word.len(), rule: "discord token", sureness: 3 });
        }
        // Runs are ASCII, so what ends a word is one byte.
        at += word.len() + 1;
    }
}

fn is_discord(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    matches!(lengths[..], [23..=28, 6, 27..=40])
        && base64::decoded(parts[0].as_bytes()).iter().all(u8::is_ascii_digit)
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

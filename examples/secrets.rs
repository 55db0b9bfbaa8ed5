//! Measures recall and precision of the secret scan.
//!
//! `cargo run --release --example secrets` generates tokens from a fixed seed, puts them into
//! sentences as people write them, and adds strings that only look random: hashes, addresses,
//! identifiers, images, placeholders. It prints recall by kind, and precision.

#![allow(clippy::print_stdout, reason = "it prints a report")]

use blue::guard::{Allowed, clean};
use blue::model::Code;

/// A random number generator. The same seed gives the same texts on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn text(&mut self, alphabet: &str, n: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..n).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }

    fn choose<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const PLAIN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HEX: &str = "0123456789abcdef";
const BECH32: &str = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";

/// Prefixes of tokens, with the alphabet and the number of characters behind them.
const TOKENS: &[(&str, &str, usize)] = &[
    ("AKIA", UPPER, 16),
    ("ASIA", UPPER, 16),
    ("AIza", URL, 35),
    ("ya29.", URL, 80),
    ("GOCSPX-", URL, 28),
    ("ghp_", PLAIN, 36),
    ("gho_", PLAIN, 36),
    ("ghu_", PLAIN, 36),
    ("ghs_", PLAIN, 36),
    ("ghr_", PLAIN, 36),
    ("github_pat_11ABCDEFG0", PLAIN, 59),
    ("glpat-", URL, 20),
    ("xoxb-", PLAIN, 40),
    ("xapp-1-", PLAIN, 40),
    ("sk_live_", PLAIN, 24),
    ("rk_live_", PLAIN, 24),
    ("whsec_", PLAIN, 32),
    ("sk-", PLAIN, 48),
    ("sk-proj-", URL, 120),
    ("sk-ant-api03-", URL, 95),
    ("npm_", PLAIN, 36),
    ("pypi-AgEIcHlwaS5vcmc", URL, 120),
    ("cio", PLAIN, 32),
    ("SK", HEX, 32),
    ("key-", HEX, 32),
    ("dop_v1_", HEX, 64),
    ("HRKU-AA", URL, 60),
    ("hf_", PLAIN, 34),
    ("hvs.", URL, 90),
    ("dapi", HEX, 32),
    ("shpat_", HEX, 32),
    ("sq0atp-", URL, 22),
    ("lin_api_", PLAIN, 40),
    ("secret_", PLAIN, 43),
    ("ntn_", PLAIN, 46),
    ("dp.pt.", PLAIN, 43),
    ("AGE-SECRET-KEY-1", BECH32, 58),
    ("glsa_", PLAIN, 41),
    ("rubygems_", HEX, 48),
    ("https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/", PLAIN, 24),
    ("https://discord.com/api/webhooks/123456789012345678/", URL, 68),
    ("AccountKey=", BASE64, 86),
    ("nvapi-", URL, 64),
    ("napi_", PLAIN, 64),
    ("tvly-dev-", PLAIN, 32),
    ("AVNS_", URL, 19),
    ("syt_", PLAIN, 40),
    ("sk-lf-", HEX, 36),
    ("1//0", URL, 96),
    ("ATTA", HEX, 72),
    ("KGAT_", HEX, 32),
    ("access-production-", HEX, 36),
    ("hcaik_", PLAIN, 58),
    ("wandb_v1_", URL, 77),
];

/// Sentences around a token that has a prefix of its own.
const SENTENCES: &[&str] = &[
    "We call it with `{}` in staging.",
    "The deploy job uses {} until next week.",
    "TOKEN={}",
    "token: \"{}\"",
    "- the key ({}) is rotated monthly",
    "| staging | {} | ops |",
    "    export KEY='{}'",
    "> he pasted {}, sorry",
    "{}",
    "see **{}**.",
];

/// Sentences that mark a value as a secret.
const ASSIGNMENTS: &[&str] = &[
    "password = \"{}\"",
    "DB_PASSWORD={}",
    "api_key: {}",
    "\"client_secret\": \"{}\"",
    "- **API key**: `{}`",
    "secret: '{}'",
    "auth_token => '{}'",
    "access_key={}",
    "The password is `{}`.",
    "| API key | {} |",
];

/// Texts around a password that a person chose.
const PASSWORDS: &[&str] = &[
    "password: {}",
    "| Password | {} |",
    "| Host | Password |\n|---|---|\n| db | `{}` |",
    "| User | Password |\n|---|---|\n| bob | {} |",
    "curl -u bob:{} https://x",
    "curl https://x \\\n  --user 'bob:{}'",
    "jdbc:oracle:thin:bob/{}@db:1521:orcl",
    "machine x.example.org login bob password {}",
    "sshpass -p '{}' ssh bob@x",
    "mysql -u root -p{} app",
    "PGPASSWORD={} psql -h db",
    "Passwort: {}",
];

/// Returns the kind of a secret, a text that contains it, and the secret.
fn secret(random: &mut Random, i: usize) -> (String, String, String) {
    let n = TOKENS.len();
    if !i.is_multiple_of(3) {
        let (prefix, alphabet, length) = TOKENS[random.below(n)];
        let token = format!("{prefix}{}", random.text(alphabet, length));
        return (prefix.to_string(), random.choose(SENTENCES).replace("{}", &token), token);
    }
    let value = random.text(PLAIN, 32);
    let host = "db.internal:5432/app";
    let (kind, text, secret) = match random.below(11) {
        0 => ("address", format!("postgres://app:{value}@{host}"), value),
        1 => ("address", format!("mongodb+srv://u:{value}@c0.mongodb.net/x"), value),
        2 => ("ado", format!("Server=db;User Id=sa;Password={value};Encrypt=true"), value),
        3 => {
            let body: Vec<String> = (0..12).map(|_| random.text(BASE64, 64)).collect();
            let body = body.join("\n");
            let label = random.choose(&["RSA ", "EC ", "", "OPENSSH "]);
            let pem = format!(
                "-----BEGIN {label}PRIVATE KEY-----\n{body}\n-----END {label}PRIVATE KEY-----"
            );
            ("pem", format!("```\n{pem}\n```"), body[..60].to_string())
        }
        4 => {
            let signature = random.text(URL, 43);
            let claims = random.text(PLAIN, 60);
            let token = format!("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{claims}.{signature}");
            ("jwt", random.choose(SENTENCES).replace("{}", &token), token)
        }
        5 => ("bearer", format!("curl -H 'Authorization: Bearer {value}' https://x"), value),
        6 => {
            let short =
                format!("{}{}!", random.text("abcdefghijkmnop", 6), random.text("23456789", 3));
            ("chosen password", random.choose(PASSWORDS).replace("{}", &short), short)
        }
        7 => {
            let end = random.text(PLAIN, 16);
            let text = format!("> it was ghp_{}\n> {end}, sorry", random.text(PLAIN, 20));
            ("token over two lines", text, end)
        }
        8 => {
            let word =
                random.choose(&["swordfish", "quietmouse", "letmein", "tigerlily"]).to_string();
            ("word as a password", random.choose(&PASSWORDS[3..11]).replace("{}", &word), word)
        }
        9 => (
            "assigned hex",
            random.choose(ASSIGNMENTS).replace("{}", &random.text(HEX, 32)),
            String::new(),
        ),
        _ => ("assigned", random.choose(ASSIGNMENTS).replace("{}", &value), value),
    };
    (kind.to_string(), text, secret)
}

/// Returns a text without a secret.
fn harmless(random: &mut Random) -> String {
    let uuid = |random: &mut Random| [8, 4, 4, 4, 12].map(|n| random.text(HEX, n)).join("-");
    match random.below(20) {
        0 => format!("Fixed in commit {}.", random.text(HEX, 40)),
        1 => format!("The request id is {}.", uuid(random)),
        2 => format!("token address: 0x{}", random.text(HEX, 40)),
        3 => format!("transaction 0x{} was mined", random.text(HEX, 64)),
        4 => format!("![x](data:image/png;base64,iVBORw0KGgo{})", random.text(BASE64, 400)),
        5 => format!("\"integrity\": \"sha512-{}==\"", random.text(BASE64, 86)),
        6 => format!("checksum = \"{}\"", random.text(HEX, 64)),
        7 => random.choose(ASSIGNMENTS).replace(
            "{}",
            random.choose(&[
                "<your-token>",
                "${TOKEN}",
                "xxxxxxxxxxxxxxxx",
                "changeme",
                "********",
                "{{ secrets.TOKEN }}",
                "your-api-key-here",
                "string",
                "process.env.API_KEY",
            ]),
        ),
        15 => random
            .choose(PASSWORDS)
            .replace("{}", random.choose(&["<password>", "${PW}", "xxxx", "changeme", "password"])),
        16 => "curl -u \"$USER:$pass\" https://x && mysql -u root -p app".to_string(),
        17 => {
            format!("see https://example.org/{}\nand {}", random.text(URL, 40), random.text(HEX, 8))
        }
        18 => "| User | Password |\n|---|---|\n| string | string |\n| yes | no |".to_string(),
        8 => "export AWS_ACCESS_KEY_ID=AKIAXXXXXXXXXXXXXXXX".to_string(),
        9 => "postgres://user:password@localhost/db and redis://localhost:6379".to_string(),
        10 => format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{} me@host", random.text(BASE64, 44)),
        11 => format!(
            "The token contract is `IERC{}TokenReceiverUpgradeable`.",
            random.text("0123456789", 4)
        ),
        12 => format!("https://docs.google.com/document/d/1{}/edit", random.text(URL, 43)),
        13 => format!("image: registry/app@sha256:{}", random.text(HEX, 64)),
        14 => "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----".to_string(),
        _ => format!(
            "secretName: app-tls-{}\ntokenId: {}",
            random.text("abcdef", 5),
            random.text("0123456789", 20)
        ),
    }
}

fn n_secrets(text: &str) -> (usize, String) {
    let clean = clean(text, &Allowed::default());
    let n = clean.notes.iter().filter(|note| note.code == Code::Secret).count();
    (n, clean.text.into_owned())
}

/// Returns the kind of a secret, a text in which it is close to something public, and the secret.
fn secret_beside_public(random: &mut Random) -> (String, String, String) {
    let value = random.text(PLAIN, 32);
    let hex = random.text(HEX, 64);
    let did = format!("did:key:z6Mk{}", random.text(PLAIN, 44));
    let claims = random.text(PLAIN, 60);
    let short = &value[..16];
    let (kind, text, secret) = match random.below(16) {
        0 => {
            let key = random.text(UPPER, 16);
            ("key beside an example", format!("AKIAIOSFODNN7EXAMPLE, not AKIA{key}"), key)
        }
        1 => ("hex private key", format!("PRIVATE_KEY=0x{hex}"), hex),
        2 => ("hex private key", format!("private key: {hex}"), hex),
        3 => ("hex token", format!("token: {hex}"), hex),
        4 => ("hex token", format!("\"token\": \"{}\"", &hex[..40]), hex[..40].to_string()),
        5 => ("credential", format!("credential: {value}"), value),
        6 => ("credential", format!("credentials = \"{value}\""), value),
        7 => ("key beside a did", format!("{did}\nprivateKeyBase58: {value}"), value),
        8 => ("key beside a did", format!("The secret of {did} is `{value}`."), value),
        9 => ("local password", format!("amqp://guest:{value}@localhost:5672"), value),
        10 => ("name as a password", "ftp://ci:ci@ftp.acme.io/x".to_string(), ":ci@".to_string()),
        11 => {
            let header = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0";
            ("session token", format!("{header}.{short}.{short}.{claims}.{short}"), claims)
        }
        12 => ("jwt", format!("eyJhbGciOiJSUzI1NiJ9.eyJ{claims}.{value}{value}"), claims),
        13 => {
            let body = random.text(BASE64, 64);
            let public = "-----BEGIN PUBLIC KEY-----\nMFkwEwY\n-----END PUBLIC KEY-----";
            let private = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----");
            ("pem after a public key", format!("{public}\n{private}"), body)
        }
        14 => {
            let password = format!("sha{}Tiger!", random.text("23456789", 3));
            ("chosen password", format!("| Password | {password} |"), password)
        }
        _ => ("key for an address", format!("The private key for this address: {value}"), value),
    };
    (kind.to_string(), text, secret)
}

/// Returns a public value in a place where secrets are.
fn public(random: &mut Random) -> String {
    let value = random.text(PLAIN, 44);
    let hex = random.text(HEX, 64);
    let prefix = random.choose(&[
        "did:sov:",
        "did:key:z6Mk",
        "did:web:x.org:",
        "npub1",
        "bc1q",
        "addr1",
        "pool1",
        "xpub6",
        "age1",
        "Qm",
        "bafy",
        "sha256-",
        "AAAAC3NzaC1lZDI1NTE5",
        "MCowBQYDK2VwAyEA",
    ]);
    let name = random.choose(&["commit", "signature", "publicKey", "txid"]);
    let login = random.choose(&["guest", "postgres", "admin"]);
    match random.below(12) {
        0 => format!("private_key: {prefix}{value}"),
        1 => format!("The secret is held by {prefix}{value}."),
        2 => format!("user token: `{}`", &hex[..56]),
        3 => format!("\"token\": \"{}.{}\"", &hex[..56], &hex[..10]),
        4 => format!("secret_hash: {hex}"),
        5 => format!("The credential with the schema `{value}` is revoked."),
        6 => format!("the api key is old; {name}: {value}"),
        7 => format!("private key\n-----BEGIN CERTIFICATE-----\n{value}\n{value}\n"),
        8 => format!("\"jws\": \"eyJhbGciOiJFZERTQSJ9..{value}{value}\""),
        9 => {
            let (iv, tag) = (&value[..16], &value[..22]);
            format!("eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.{value}.{iv}.{value}.{tag}")
        }
        10 => random.choose(ASSIGNMENTS).replace(
            "{}",
            random.choose(&[
                "YOUR_API_KEY",
                "<placeholder>",
                "[payload omitted]",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                "1234567890abcdef1234567890abcdef",
                "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
                "2YotnFZFEjr1zCsicMWpAA",
            ]),
        ),
        _ => format!("amqp://{login}:{login}@{}:5672", random.choose(&["localhost", "db"])),
    }
}

fn main() {
    report("the set of ADR 0019", secret, harmless);
    report("secrets beside public values", |random, _| secret_beside_public(random), public);
}

/// Prints recall and precision of a set.
fn report(
    title: &str,
    secret: impl Fn(&mut Random, usize) -> (String, String, String),
    harmless: impl Fn(&mut Random) -> String,
) {
    println!("{title}");
    let mut random = Random(20_261_116);
    let n = 6_000;
    let (mut n_found, mut missed) =
        (0, std::collections::BTreeMap::<String, (usize, String)>::new());
    for i in 0..n {
        let (kind, text, secret) = secret(&mut random, i);
        let (found, redacted) = n_secrets(&text);
        if found > 0 && (secret.is_empty() || !redacted.contains(&secret)) {
            n_found += 1;
        } else {
            let entry = missed.entry(kind).or_default();
            *entry = (entry.0 + 1, text);
        }
    }
    let mut n_wrong = 0;
    for _ in 0..n {
        let text = harmless(&mut random);
        if n_secrets(&text).0 > 0 {
            n_wrong += 1;
            println!("wrong: {text:.100}");
        }
    }
    for (kind, (n, text)) in missed {
        println!("missed {n} of {kind}: {text:.120}");
    }
    let percent = |a: usize, b: usize| a as f64 * 100.0 / b as f64;
    println!("recall    {n_found} of {n}, {:.2} %", percent(n_found, n));
    println!(
        "precision {n_found} of {}, {:.2} %",
        n_found + n_wrong,
        percent(n_found, n_found + n_wrong)
    );
    println!("{n_wrong} of {n} harmless texts redacted");
}

//! Credentials in documents are redacted and reported.

use super::{project_with, see, token};

fn secrets() -> Vec<(&'static str, String)> {
    let plain = "Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUq";
    let hex = "9f8b2c4d1e7a6350b4c2d8e1f7a93b60";
    let long = plain.repeat(3);
    vec![
        ("aws access key", token("AKIA", "Q3EGRIR7HJ2WNKX5")),
        ("google api key", token("AIza", &plain[..35])),
        ("github token", token("ghp_", plain)),
        ("github token", token("github_pat_", &long[..60])),
        ("gitlab token", token("glpat-", &plain[..20])),
        ("slack token", token("xoxb-", "123456789012-abcDEF456ghi")),
        (
            "slack web hook",
            token("hooks.slack.com/services/", "T0AB12CD3/B0EF45GH6/k3mQ9xW2vB7nR4t"),
        ),
        ("stripe key", token("sk_live_", &plain[..24])),
        ("stripe web hook secret", token("whsec_", &plain[..32])),
        ("anthropic key", token("sk-ant-", &long[..90])),
        ("openai key", token("sk-proj-", &long[..48])),
        ("npm token", token("npm_", plain)),
        ("pypi token", token("pypi-AgE", &long[..80])),
        ("crates.io token", token("cio", &plain[..32])),
        ("twilio key", token("SK", hex)),
        ("sendgrid key", format!("SG.{}.{}", &plain[..22], &long[..43])),
        ("mailgun key", token("key-", hex)),
        ("telegram token", token("123456789:AA", &plain[..33])),
        ("discord web hook", format!("discord.com/api/webhooks/1234567890/{}", &long[..68])),
        ("digitalocean token", token("dop_v1_", &hex.repeat(2))),
        ("heroku token", token("HRKU-", &long[..60])),
        ("hugging face token", token("hf_", &plain[..34])),
        ("vault token", token("hvs.", &long[..90])),
        ("databricks token", token("dapi", hex)),
        ("shopify token", token("shpat_", hex)),
        ("square token", token("sq0atp-", &plain[..22])),
        ("linear token", token("lin_api_", &long[..40])),
        ("notion token", token("ntn_", &long[..46])),
        ("doppler token", token("dp.pt.", &long[..43])),
        ("age key", token("AGE-SECRET-KEY-1", &"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".repeat(2)[..58])),
        ("azure key", format!("AccountKey={}==", &long[..86])),
        (
            "json web token",
            format!("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0In0.{plain}"),
        ),
    ]
}

#[test]
fn every_kind_of_token_is_redacted_everywhere() {
    let mut text = "# Tokens\n\n## Decision\n\n".to_string();
    let all = secrets();
    for (_, secret) in &all {
        text += &format!("We use {secret} here.\n");
    }
    let seen = see(&project_with(&text));
    for (i, (rule, secret)) in all.iter().enumerate() {
        let place = format!("BLUE-SEC-001 {}:", i + 5);
        let found = seen.findings.iter().find(|finding| finding.starts_with(&place));
        assert!(
            found.is_some_and(|f| f.contains(rule) && f.contains("fingerprint")),
            "{rule}: {found:?}"
        );
        assert!(!seen.emitted.contains(secret.as_str()), "{rule} leaked");
        assert!(!seen.emitted.contains(&secret[secret.len() - 10..]), "the end of a {rule} leaked");
    }
    assert!(seen.emitted.contains("[redacted: github token]"));
}

#[test]
fn secrets_are_found_in_every_part_of_a_document() {
    let secret = token("ghp_", "Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUq");
    for text in [
        format!("---\ntitle: \"Use {secret}\"\n---\n\nText.\n"),
        format!("---\nstatus: {secret}\ndate: 2026-01-01\n---\n\n# T\n"),
        format!("# {secret}\n\nText.\n"),
        format!("# T\n\n## {secret}\n\nText.\n"),
        format!("# T\n\n| **Status** | {secret} |\n|---|---|\n\nText.\n"),
        format!("# T\n\n```sh\ncurl -u x:{secret} y\n```\n"),
        format!("# T\n\n> quoted `{secret}`\n"),
        format!("# T\n\n[x](https://example.org/?t={secret})\n"),
        format!("# T\n\n[x]({secret}.md)\n"),
        format!("# T\n\n<!-- {secret} -->\n"),
        format!("# T\n\nsee RFC-{secret} and blue://docs/{secret}\n"),
        format!("# T\r\n\r\nText {secret}\r\n"),
        format!("\u{FEFF}# T {secret}\n"),
    ] {
        let seen = see(&project_with(&text));
        assert!(!seen.emitted.contains(&secret[4..]), "{text}");
        assert!(
            seen.findings.iter().any(|f| f.starts_with("BLUE-SEC-001")),
            "{text}: {:?}",
            seen.findings
        );
    }
}

#[test]
fn private_keys_are_redacted_line_by_line() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7Zk3mQ9xW2vB7";
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let pem = format!("{begin}\n{line}\n{line}\n{end}");
    for text in [
        format!("# T\n\n```\n{pem}\n```\n\n[gone](nowhere.md)\n"),
        format!(
            "# T\n\n{begin}\nProc-Type: 4,ENCRYPTED\n\n{line}\n{line}\n\nThen.\n\n[gone](nowhere.md)\n"
        ),
        format!("# T\n\n{}\n\n[gone](nowhere.md)\n", pem.replace('\n', "\n    ")),
        format!("# T\n\n> {}\n\n[gone](nowhere.md)\n", pem.replace('\n', "\n> ")),
        format!("# T\n\n\"private_key\": \"{}\"\n\n[gone](nowhere.md)\n", pem.replace('\n', "\\n")),
        format!("# T\n\n{}\n\n[gone](nowhere.md)\n", pem.replace("RSA ", "OPENSSH ")),
        format!(
            "# T\n\nPuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 2\n{line}\n{line}\n\n[gone](nowhere.md)\n"
        ),
    ] {
        let project = project_with(&text);
        let seen = see(&project);
        assert!(!seen.emitted.contains(&line[..24]), "{text}");
        assert!(
            seen.findings.iter().any(|f| f.contains("private key")),
            "{text}: {:?}",
            seen.findings
        );
        let lint = project.blue(&["knowledge", "lint"]).stdout;
        let after = text.lines().position(|line| line.starts_with("[gone]")).unwrap() + 1;
        assert!(
            lint.contains(&format!("0001-a.md:{after}:1: warning: no document")),
            "lines moved: {lint}"
        );
    }
}

#[test]
fn credentials_in_addresses_headers_and_assignments_are_redacted() {
    for (text, secret) in [
        ("postgres://app:s3cr3tPw@db/x", "s3cr3tPw"),
        ("mysql://root:hunter2@localhost/x", "hunter2"),
        ("mongodb+srv://u:p4ssw0rd!@c0.mongodb.net", "p4ssw0rd!"),
        ("redis://:longredispass@cache:6379/0", "longredispass"),
        ("amqp://svc:rabbitpass@mq/vhost", "rabbitpass"),
        ("postgres://u:pa/ss@w0rd@host/db", "w0rd"),
        ("https://bob:swordfish@host.example.org/x", "swordfish"),
        ("Server=db;Database=x;User Id=sa;Password=letmein;", "letmein"),
        ("Authorization: Basic dXNlcjpzd29yZGZpc2g=", "dXNlcjpzd29yZGZpc2g"),
        ("Authorization: Bearer mF9B5f41JqM2xk", "mF9B5f41JqM2xk"),
        ("machine api.example.org login bob password swordfish", "swordfish"),
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("password: \"Tr0ub4dor&3\"", "Tr0ub4dor&3"),
        ("password: 'a1,b2;c3*d'", "b2;c3*d"),
        (
            "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzq8Lk2mNvBtA",
            "wJalrXUtnFEMIK7MDENG",
        ),
        ("The API key is `Zk3mQ9xW2vB7nR4tY8pL`.", "Zk3mQ9xW2vB7nR4tY8pL"),
        ("client_secret: 9f8b2c4d1e7a6350b4c2d8e1f7a93b60", "9f8b2c4d1e7a6350"),
        ("| API key | Zk3mQ9xW2vB7nR4tY8pL |", "Zk3mQ9xW2vB7nR4tY8pL"),
        (
            "https://acc.blob.core.windows.net/c?sv=2022&sig=Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUqZk3mQ%3D",
            "nR4tY8pL5sD1",
        ),
    ] {
        let seen = see(&project_with(&format!("# T\n\n{text}\n")));
        assert!(!seen.emitted.contains(secret), "{text}");
        assert!(
            seen.findings.iter().any(|f| f.starts_with("BLUE-SEC-001 3:")),
            "{text}: {:?}",
            seen.findings
        );
    }
}

#[test]
fn passwords_in_tables_and_commands_are_redacted() {
    let cases = [
        ("| Env | Password |\n|---|---|\n| a | `hunter2` |", "hunter2"),
        ("> User | Password\n> ---|---\n> bob | quietmouse", "quietmouse"),
        ("| Service | API key |\n|---|---|\n| x | Zk3mQ9xW2vB7nR4tY8pL |", "Zk3mQ9xW2vB7nR4tY8pL"),
        ("```sh\ncurl -u bob:swordfish1 https://x\n```", "swordfish1"),
        ("`curl https://x --user 'bob:sword fish2'`", "sword fish2"),
        ("`jdbc:oracle:thin:scott/tigerlily@db:1521:orcl`", "tigerlily"),
        ("`sshpass -p swordfish3 ssh bob@x`", "swordfish3"),
        ("`mysql -u root -pswordfish4 app`", "swordfish4"),
        ("`PGPASSWORD=swordfish5 psql`", "swordfish5"),
        ("`sqlplus bob/swordfish6@//db:1521/x`", "swordfish6"),
        ("machine x.example.org\n  login bob\n  password swordfish7", "swordfish7"),
        ("Authorization: SSWS 00QCjAl4MlVWPXMABCd", "00QCjAl4MlVWPXMABCd"),
        ("Passwort: hunter8", "hunter8"),
        ("密码：hunter9", "hunter9"),
    ];
    let text: String = cases.iter().map(|(text, _)| format!("{text}\n\n")).collect();
    let seen = see(&project_with(&format!("# T\n\n## Decision\n\n{text}")));
    for (text, secret) in cases {
        assert!(!seen.emitted.contains(secret), "{text}");
    }
    let n = seen.findings.iter().filter(|f| f.starts_with("BLUE-SEC-001")).count();
    assert_eq!(n, cases.len(), "{:#?}", seen.findings);
}

#[test]
fn random_looking_text_is_not_redacted() {
    for text in [
        "commit 9f8b2c4d1e7a6350b4c2d8e1f7a93b609f8b2c4d",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "token address: 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "hash 0x9f8b2c4d1e7a6350b4c2d8e1f7a93b609f8b2c4d1e7a6350b4c2d8e1f7a93b60",
        "`onERC1155BatchReceived(address token)`",
        "password: <your-password>, token: ${TOKEN}, api_key: xxxxxxxxxxxxxxxx",
        "AKIAXXXXXXXXXXXXXXXX",
        "postgres://user:password@localhost/db",
        "secret: bytes32, password: string, passwords: 128-bit",
        "| User | Password |\n|---|---|\n| string | string |\n| `<user>` | `${PW}` |",
        "curl -u user:password https://x; mysql -u root -p app; sshpass -p \"$PW\" ssh x",
        "jdbc:oracle:thin:user/password@host and PGPASSWORD=changeme",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "sha512-Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUqZk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUqZk3mQ9xW2vB7nR==",
    ] {
        let seen = see(&project_with(&format!("# T\n\n{text}\n")));
        assert_eq!(seen.findings, [] as [&str; 0], "{text}");
    }
}

#[test]
fn an_allowed_fingerprint_needs_a_reason_and_allows_one_secret() {
    let project = project_with("# T\n\nDB_PASSWORD=hunter2 and DB_PASSWORD=hunter3x\n");
    let seen = see(&project);
    let fingerprint = seen.findings[0].rsplit("fingerprint ").next().unwrap().trim_matches('"');
    assert_eq!(fingerprint.len(), 12, "{:?}", seen.findings);
    let allow = |reason: &str| {
        format!(
            "security:\n  allow_secrets:\n    - {{fingerprint: \"{fingerprint}\", reason: \"{reason}\"}}\n"
        )
    };
    for reason in ["", "  "] {
        project.write(".blue/config.yaml", allow(reason));
        assert_eq!(project.blue(&["knowledge", "build"]).code, 2);
    }
    project.write(".blue/config.yaml", allow("a word from a film"));
    let seen = see(&project);
    assert!(seen.emitted.contains("hunter2"), "{:?}", seen.findings);
    assert!(!seen.emitted.contains("hunter3x"));
    assert_eq!(seen.findings.len(), 1);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    project.write(".blue/config.yaml", "version: 1\n");
    project.build();
    let leaked = |(path, bytes): &(String, Vec<u8>)| {
        !path.starts_with("docs/") && String::from_utf8_lossy(bytes).contains("hunter2")
    };
    let leaks: Vec<_> = project.files().into_iter().filter(leaked).collect();
    assert!(leaks.is_empty(), "what was allowed once is not allowed for ever: {leaks:?}");
}

//! Measures the MCP server with 10,000 documents: time to the first answer, time per read, memory.
//!
//! Run it with `cargo bench --bench mcp`. A read is compared with reading the file and sending as
//! many bytes through `cat`. `REFERENCE="node path/to/server-filesystem/dist/index.js"` adds the
//! public reference server to the same run.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark writes files, reads the clock and prints"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const DOCUMENTS: usize = 10_000;
const STARTS: usize = 30;
const READS: usize = 1_000;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}"#;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let root = folder.path();
    let blue = env!("CARGO_BIN_EXE_blue");
    documents(root);
    let built = Command::new(blue).args(["knowledge", "build"]).current_dir(root).output();
    assert!(built.expect("blue runs").status.success(), "the build failed");

    println!("spawn to first answer, median of {STARTS}");
    let floor = started(root, &["cat"], "x");
    println!("  cat                 {floor:.2?}");
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#;
    for (method, params) in [
        ("server/discover", format!("{{{META}}}")),
        ("initialize", hello.to_string()),
        ("resources/list", format!("{{{META}}}")),
        ("resources/read", format!("{{\"uri\":\"blue://context/session\",{META}}}")),
    ] {
        let time = started(root, &[blue, "mcp"], &request(1, method, &params));
        println!("  {method:19} {time:.2?}");
    }
    let reference = std::env::var("REFERENCE").ok();
    let reference: Option<Vec<&str>> = reference.as_ref().map(|text| text.split(' ').collect());
    let folder_argument = root.display().to_string();
    if let Some(command) = &reference {
        let command = [command.as_slice(), &[&folder_argument]].concat();
        let time = started(root, &command, &request(1, "initialize", hello));
        println!("  reference           {time:.2?}");
    }
    reads(root, blue, reference.map(|command| (command, folder_argument.clone())));
}

fn reads(root: &Path, blue: &str, reference: Option<(Vec<&str>, String)>) {
    let file = ".blue/context/session.md";
    let text = std::fs::read(root.join(file)).expect("the bundle was built");
    println!("one bundle of {} bytes, median of {READS}", text.len());
    let plain = median(READS, || drop(std::fs::read(root.join(file))));
    println!("  in one process      {plain:.2?}");
    let mut cat = Process::new(root, &["cat"]);
    let line = "x".repeat(text.len());
    let turn = median(READS, || drop(cat.ask(&line)));
    let base = plain + turn;
    println!("  through cat         {base:.2?}, of which {turn:.2?} for the pipes");
    let mut server = Process::new(root, &[blue, "mcp"]);
    let read =
        request(1, "resources/read", &format!("{{\"uri\":\"blue://context/session\",{META}}}"));
    let time = median(READS, || drop(server.ask(&read)));
    println!("  resources/read      {time:.2?}, {:.2} times that", ratio(time, base));
    let list = request(1, "tools/list", &format!("{{{META}}}"));
    println!("  tools/list          {:.2?}", median(READS, || drop(server.ask(&list))));
    if let Some((command, path)) = reference {
        let command = [command.as_slice(), &[&path]].concat();
        let mut reference = Process::new(root, &command);
        reference.ask(&request(1, "initialize", r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#));
        reference.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let read =
            format!("{{\"name\":\"read_text_file\",\"arguments\":{{\"path\":\"{path}/{file}\"}}}}");
        let read = request(2, "tools/call", &read);
        let other = median(READS, || drop(reference.ask(&read)));
        println!(
            "  reference           {other:.2?}, {:.2} times resources/read",
            ratio(other, time)
        );
        println!("memory of the reference: {}", memory(&reference.child));
    }
    let mut cursor = String::new();
    let (started, mut n_pages) = (Instant::now(), 0);
    loop {
        let params = match cursor.is_empty() {
            true => format!("{{{META}}}"),
            false => format!("{{\"cursor\":\"{cursor}\",{META}}}"),
        };
        let answer = server.ask(&request(1, "resources/list", &params));
        n_pages += 1;
        let Some((_, rest)) = answer.split_once("\"nextCursor\":\"") else { break };
        cursor = rest.split('"').next().unwrap_or_default().to_string();
    }
    println!("list of all resources {:.2?}, {n_pages} pages", started.elapsed());
    println!("memory of the server: {}", memory(&server.child));
}

fn documents(root: &Path) {
    for i in 1..=DOCUMENTS / 2 {
        let other = i % 997 + 1;
        let text = format!(
            "# ADR {i:04}: Decision {i}\n\n- Status: accepted\n\n## Decision\n\nWe decided number {i} for reasons. See ADR {other:04}.\n"
        );
        write(&root.join(format!(".blue/docs/adrs/{i:04}-decision-{i}.md")), &text);
        let text = format!(
            "# RFC {i:04}: Proposal {i}\n\n- Status: draft\n\nIt follows from ADR {other:04}.\n\n## Tasks\n\n- [ ] do {i}\n"
        );
        write(&root.join(format!(".blue/docs/rfcs/{i:04}-proposal-{i}.md")), &text);
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("the path has a parent"))
        .expect("the folder can be created");
    std::fs::write(path, text).expect("the file can be written");
}

fn request(id: u64, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}")
}

fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

fn median(n: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..n)
        .map(|_| {
            let started = Instant::now();
            run();
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[n / 2]
}

/// Returns the median time from starting a program to its first line of output.
fn started(root: &Path, command: &[&str], line: &str) -> Duration {
    median(STARTS, || {
        let mut process = Process::new(root, command);
        process.ask(line);
    })
}

fn memory(child: &Child) -> String {
    let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let is_memory =
        |line: &&str| ["VmRSS", "VmHWM", "RssAnon"].iter().any(|key| line.starts_with(key));
    let lines: Vec<String> =
        text.lines().filter(is_memory).map(|line| line.replace(char::is_whitespace, "")).collect();
    lines.join(" ")
}

/// A program that answers each line with a line.
struct Process {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    fn new(root: &Path, command: &[&str]) -> Process {
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let stdin = child.stdin.take().expect("the stream is piped");
        let stdout = BufReader::new(child.stdout.take().expect("the stream is piped"));
        Process { child, stdin, stdout }
    }

    fn send(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).expect("the program reads its input");
    }

    /// Sends a line and returns the answer; notifications are skipped.
    fn ask(&mut self, line: &str) -> String {
        self.send(line);
        loop {
            let mut answer = String::new();
            assert!(
                self.stdout.read_line(&mut answer).expect("the program answers") > 0,
                "the program ended"
            );
            if !answer.contains("\"method\":\"notifications/") {
                return answer;
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

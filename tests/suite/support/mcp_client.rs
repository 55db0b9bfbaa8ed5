//! A client that writes and reads plain lines, so that a test sees every byte of the connection.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Project;

/// Version of the protocol that a client uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Era {
    /// `initialize`, 2025-11-25.
    Legacy,
    /// Everything in `_meta`, 2026-07-28.
    Modern,
}

/// A running server, and the notifications it sent.
pub struct Client {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    pub notes: Vec<Value>,
    era: Era,
    last: u64,
}

pub fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

impl Client {
    /// Starts a server without opening the connection.
    pub fn silent(project: &Project, era: Era) -> Client {
        Client::started(project, era, &["mcp", "--session", "test"], "")
    }

    /// Starts a server as an agent does, with the session in the environment.
    pub fn unnamed(project: &Project, session: &str) -> Client {
        Client::started(project, Era::Modern, &["mcp"], session)
    }

    fn started(project: &Project, era: Era, arguments: &[&str], session: &str) -> Client {
        let mut child = project
            .command(arguments)
            .env("CLAUDE_CODE_SESSION_ID", session)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Client { child, stdin, lines, notes: Vec::new(), era, last: 0 }
    }

    /// Starts a server and opens the connection.
    pub fn new(project: &Project, era: Era) -> Client {
        let mut client = Client::silent(project, era);
        if era == Era::Legacy {
            let hello = json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            });
            let answer = client.ask("initialize", hello);
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
            client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        client
    }

    pub fn write(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// Sends a request and returns its id.
    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if self.era == Era::Modern {
            params["_meta"] = meta("2026-07-28");
        }
        let id = self.last;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next line, which must be one JSON message.
    pub fn line(&mut self, wait: Duration) -> Option<Value> {
        match self.lines.recv_timeout(wait) {
            Ok(line) => {
                let value: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
                    panic!("not a line of JSON: {error}: {line}");
                });
                assert_eq!(value["jsonrpc"], "2.0", "{value}");
                Some(value)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Waits for the answer to a request. Other messages go to `notes`.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let value = self.line(Duration::from_secs(60)).expect("an answer");
            if value["id"] == id {
                return value;
            }
            self.notes.push(value);
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Sends a request and returns its result. An error fails the test.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub fn read(&mut self, uri: &str) -> Value {
        self.ask("resources/read", json!({"uri": uri}))
    }

    /// Reads a resource and returns its text.
    pub fn text(&mut self, uri: &str) -> String {
        let result = self.result("resources/read", json!({"uri": uri}));
        result["contents"][0]["text"].as_str().unwrap().to_string()
    }

    /// Calls a tool and returns its structured result. An error fails the test.
    pub fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": name, "arguments": arguments}));
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that answers with text only. An error fails the test.
    pub fn tool_text(&mut self, name: &str, arguments: Value) -> String {
        let result = self.result("tools/call", json!({"name": name, "arguments": arguments}));
        assert_ne!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_string()
    }

    /// Every resource, page by page.
    pub fn all(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        let mut params = json!({});
        loop {
            let page = self.result("resources/list", params.clone());
            all.extend(page["resources"].as_array().unwrap().clone());
            match page.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return all,
            }
        }
    }

    /// Waits for a notification.
    pub fn wait_for(&mut self, method: &str, wait: Duration) -> Option<Value> {
        let until = Instant::now() + wait;
        loop {
            if let Some(at) = self.notes.iter().position(|note| note["method"] == method) {
                return Some(self.notes.remove(at));
            }
            let left = until.checked_duration_since(Instant::now())?;
            let note = self.line(left)?;
            self.notes.push(note);
        }
    }

    /// Closes the input of the server and returns its exit code.
    pub fn end(mut self) -> i32 {
        drop(self.stdin.take());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

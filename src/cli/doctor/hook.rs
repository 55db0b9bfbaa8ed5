//! Runs the session hook once, as an agent does, and checks its output.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::DoctorCheck;
use crate::cli::installation::{ScriptState, script_state};
use crate::condense::tokens;
use crate::model::layout::SESSION;
use crate::root::Root;
use crate::wire::agent::SCRIPTS;
use crate::wire::audit::PROBE;

const TIMEOUT: Duration = Duration::from_secs(5);
const NAME: &str = "what an agent receives";

/// Measurements of the text that an agent would receive.
#[derive(Debug, Serialize)]
pub(super) struct Received {
    bytes: usize,
    tokens: u64,
    milliseconds: u64,
    same_as_built: bool,
}

/// Runs the hook and compares its output with the session bundle.
pub(super) fn run(root: &Root, folder: &Path) -> (DoctorCheck, Option<Received>) {
    let (path, shipped) = SCRIPTS[0];
    // The repository may be hostile, so only a script that blue ships is run.
    if !matches!(script_state(root, path, shipped), Ok(ScriptState::Current)) {
        let hint = "run `blue install`, or read the script and run it yourself";
        let detail = format!("not tried: {path} is not the script that blue ships");
        return (DoctorCheck::warning(NAME, detail, hint), None);
    }
    let started = Instant::now();
    let output = match run_script(&folder.join(path), folder) {
        Ok(output) => output,
        Err(error) => {
            return (
                DoctorCheck::problem(NAME, format!("{path}: {error}"), "run it by hand"),
                None,
            );
        }
    };
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let built = root.readable_bytes(SESSION, 1 << 28).unwrap_or_default();
    let received = Received {
        bytes: output.len(),
        tokens: tokens::count(&String::from_utf8_lossy(&output)),
        milliseconds,
        same_as_built: output == built,
    };
    let detail =
        format!("{} bytes, {} tokens, in {milliseconds} ms", received.bytes, received.tokens);
    let check = match (received.same_as_built, output.is_empty()) {
        (true, false) => DoctorCheck::ok(NAME, format!("{detail}; the bytes of {SESSION}")),
        (_, true) => DoctorCheck::warning(NAME, "nothing", "run `blue knowledge build`"),
        (false, _) => {
            let detail = format!("{detail}; not the bytes of {SESSION}");
            DoctorCheck::problem(NAME, detail, "run `blue install` and `blue knowledge build`")
        }
    };
    (check, Some(received))
}

fn run_script(script: &Path, folder: &Path) -> std::io::Result<Vec<u8>> {
    let mut child = Command::new(script)
        .current_dir(folder)
        // Without these, the hook prints the text whatever files an agent reads besides.
        .env_remove("CLAUDE_PROJECT_DIR")
        .env_remove("COPILOT_CLI")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let event = serde_json::json!({
        "session_id": PROBE,
        "cwd": folder.to_string_lossy(),
        "hook_event_name": "SessionStart",
        "source": "startup",
    });
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let mut stdout = child.stdout.take().expect("stdout is piped");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // A script that does not read its input closes the pipe, which is not an error.
        stdin.write_all(event.to_string().as_bytes()).ok();
        drop(stdin);
        let mut bytes = Vec::new();
        let read = stdout.read_to_end(&mut bytes).map(|_| bytes);
        // After a timeout, there is no receiver.
        sender.send(read).ok();
    });
    let started = Instant::now();
    let output = receiver.recv_timeout(TIMEOUT);
    let status = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if started.elapsed() > TIMEOUT => break None,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let (Ok(output), Some(status)) = (output, status) else {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // The process may have ended in the meantime.
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
        }
        child.wait()?;
        return Err(std::io::Error::other("still runs after 5 seconds"));
    };
    match status.success() {
        true => output,
        false => Err(std::io::Error::other(format!("ended with {status}"))),
    }
}

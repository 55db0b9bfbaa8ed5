"""Checks that real coding agents pass blue's texts to the model exactly once, and obey its guard.

Usage: check.py [AGENT]...

Each case makes a repository in a temporary folder, connects blue, starts the agent once or twice
with a scripted model on a loopback port, and counts the copies of each text in the first request of
the conversation.

Environment:
  BLUE                   the binary (default: target/debug/blue)
  BLUE_CLIENTS           the folder with node_modules (default: target/clients)
  BLUE_CLIENTS_OPTIONAL  agents that may be missing or may not start, separated by spaces
"""

import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

# The test suite reads every file below tests/ as text.
sys.dont_write_bytecode = True

from agents import AGENTS, forms, write  # noqa: E402
from model import Model  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLUE = os.path.abspath(os.environ.get("BLUE", f"{ROOT}/target/debug/blue"))
CLIENTS = os.path.abspath(os.environ.get("BLUE_CLIENTS", f"{ROOT}/target/clients"))
RECORDS = f"{ROOT}/target/clients/requests"
OPTIONAL = os.environ.get("BLUE_CLIENTS_OPTIONAL", "").split()
SECONDS = 60

# The characters < > & " and é show how an agent escapes and encodes a text.
DOCUMENTS = {
    "docs/adr/0001-use-one-queue.md": """\
# 1. Use one queue

Status: accepted

## Decision

We use one `Queue<Job>` for every kind of job & never a second one.
""",
    "docs/adr/0002-log-as-json.md": """\
# 2. Log as JSON

Status: accepted

## Decision

We write every log line as one "JSON" object, also in the café.
""",
    "docs/rfcs/0016-retry-jobs.md": """\
# RFC 0016: Retry jobs

Status: in progress

## Summary

We retry a failed `Job<T>` at most 3 times & then report it.

## Tasks

- [x] Count the attempts
- [ ] Wait longer after each "attempt"
""",
    "knowledge/house.md": """\
# House rules

Answer in short sentences. Prefer `Vec<Job>` & plain "English".
""",
}


class NotRun(Exception):
    """The agent is missing, or sent no request of a conversation."""


class Project:
    """A repository on the branch of an RFC, and a home folder, both temporary."""

    def __init__(self, folder):
        self.folder = folder
        self.home = f"{folder}/home"
        self.repository = f"{folder}/repository"
        self.model = None
        path = [os.path.dirname(BLUE), f"{CLIENTS}/node_modules/.bin", os.environ["PATH"]]
        self.environment = {
            "PATH": ":".join(path),
            "HOME": self.home,
            "XDG_CONFIG_HOME": f"{self.home}/.config",
            "XDG_DATA_HOME": f"{self.home}/.local/share",
            "XDG_STATE_HOME": f"{self.home}/.local/state",
            "XDG_CACHE_HOME": f"{self.home}/.cache",
            "TMPDIR": f"{folder}/tmp",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        os.makedirs(self.home)
        os.makedirs(f"{folder}/tmp")
        write(f"{self.home}/.gitconfig", "[user]\n\tname = Test\n\temail = test@localhost\n")
        for path, text in DOCUMENTS.items():
            write(f"{self.repository}/{path}", text)
        self.tool("git", "init", "--quiet", "--initial-branch", "main")
        self.commit("Add documents")
        self.tool("git", "checkout", "--quiet", "-b", "rfc/0016")
        self.tool(BLUE, "init")

    def tool(self, *command):
        """Runs a command that must succeed."""
        done = subprocess.run(
            command,
            cwd=self.repository,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        if done.returncode != 0:
            error = done.stderr.strip()
            raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {error}")

    def commit(self, message):
        self.tool("git", "add", "--all")
        self.tool("git", "commit", "--quiet", "--message", message)

    def connect(self, *arguments):
        self.tool(BLUE, "install", *arguments)
        self.commit("Connect agents")

    def texts(self):
        context = f"{self.repository}/.blue/context"
        [workflow] = os.listdir(f"{context}/workflow")
        paths = {
            "session": "session.md",
            "rfc": f"workflow/{workflow}",
            "knowledge": "knowledge.md",
        }
        return {name: read(f"{context}/{path}").strip() for name, path in paths.items()}

    def run(self, agent, prompt, *arguments):
        """Starts the agent once and returns the first request of its conversation."""
        return self.converse(agent, prompt, [], *arguments)[0]

    def converse(self, agent, prompt, calls, *arguments):
        """Starts the agent once, with tool calls as first answers. Returns its requests."""
        model = Model(calls)
        try:
            added = agent.configure(self.home, self.repository, model.address)
            output = f"{self.folder}/output"
            status = run_limited(
                agent.command(prompt, *arguments),
                cwd=self.repository,
                env={**self.environment, **added},
                output=output,
            )
        finally:
            model.stop()
        # Agents also ask for titles and routes. Only the conversation offers tools.
        bodies = [body for _, body in model.requests if isinstance(body, dict) and body.get("tools")]
        bodies = [body for body in bodies if any(prompt in string for string in strings(body))]
        if bodies:
            return bodies
        lines = read(output).strip().splitlines() or ["no output"]
        raise NotRun(f"{status}, {len(model.requests)} requests: {lines[-1][:200]}")


def run_limited(command, cwd, env, output):
    """Runs a command for at most SECONDS and ends its process group."""
    with open(output, "wb") as file:
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        return f"exit {child.wait(SECONDS)}"
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS} s"
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def strings(value):
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def opening(text):
    """The name of a bundle's first tag, which is in every copy, also in a cut or stale one."""
    return text.removeprefix("<").split(" ")[0] + " "


def problems(agent, texts, body):
    """Compares a request with the texts, each of which must be in it exactly once."""
    found = list(strings(body))
    for name, text in texts.items():
        whole = sum(string.count(form) for form in set(forms(agent, text)) for string in found)
        begun = sum(string.count(opening(text)) for string in found)
        if whole != 1 or begun != 1:
            cut = f", {begun} with cut or changed ones" if begun != whole else ""
            yield f"{name}: {whole} {'copy' if whole == 1 else 'copies'}{cut}"


def starts(project, agent):
    """The text arrives when only this agent is connected."""
    project.connect(*agent.install)
    yield project.run(agent, "Say hello.")


def starts_among_others(project, agent):
    """The text arrives when every agent is connected."""
    project.connect("--agent", ",".join(agent.name for agent in AGENTS))
    yield project.run(agent, "Say hello.")


def continues(project, agent):
    """A continued conversation does not get a second copy."""
    project.connect(*agent.install)
    yield project.run(agent, "Say hello.")
    yield project.run(agent, "Say it again.", ["--continue"])
    yield project.run(agent, "Say it once more.", ["--continue"])


def resumes(project, agent):
    """A conversation that is resumed by its identifier does not get a second copy."""
    session = "00000000-0000-4000-8000-000000000016"
    project.connect(*agent.install)
    yield project.run(agent, "Say hello.", ["--session-id", session])
    yield project.run(agent, "Say it again.", ["--resume", session])


def starts_for_user(project, agent):
    """The text arrives when blue is connected for the user."""
    project.tool(BLUE, "install", "--user")
    yield project.run(agent, "Say hello.")


def starts_for_user_and_project(project, agent):
    """Hooks of the user and of the project give one copy together."""
    project.tool(BLUE, "install", "--user")
    project.connect(*agent.install)
    yield project.run(agent, "Say hello.")


def guards_other_rfcs(project, agent):
    """On the branch of an RFC, the document of another one is refused and its own is written."""
    other, own = "docs/rfcs/0017-cache-jobs.md", "docs/rfcs/0016-retry-jobs.md"
    document = "# RFC 0017: Cache jobs\n\nStatus: in progress\n\n## Summary\n\nWe cache each job.\n"
    write(f"{project.repository}/{other}", document)
    project.tool(BLUE, "knowledge", "build")
    project.connect(*agent.install)
    new = read(f"{project.repository}/{own}") + "- [ ] Log it\n"
    written = [
        call
        for path, text in [(other, "# Gone\n"), (own, new)]
        for call in agent.write_calls(project.repository, path, text)
    ]
    calls = [agent.call(n, *call) for n, call in enumerate(written)]
    bodies = project.converse(agent, "Edit both.", calls, agent.edit_flags())
    reason = f"{other} belongs to RFC 0017, and branch rfc/0016 is for RFC 0016"
    if not any(reason in string for string in strings(bodies[-1])):
        record(agent, guards_other_rfcs, len(bodies), bodies[-1])
        yield "the model got no reason"
    if read(f"{project.repository}/{other}") != document:
        yield f"{other} was changed"
    if read(f"{project.repository}/{own}") != new:
        yield f"{own} was not changed"


CASES = [(agent, case) for agent in AGENTS for case in (starts, starts_among_others)] + [
    (AGENTS[0], case)
    for case in (continues, resumes, starts_for_user, starts_for_user_and_project)
]

# Cases that give problems themselves, for agents whose tools are scripted.
EDIT_CASES = [(agent, guards_other_rfcs) for agent in AGENTS[:2]]


def version(agent):
    """The version of an agent, or None if it is not installed."""
    try:
        package = read(f"{CLIENTS}/node_modules/{agent.package}/package.json")
    except FileNotFoundError:
        return None
    return json.loads(package)["version"]


def program(agent):
    return f"{CLIENTS}/node_modules/.bin/{agent.name}"


def record(agent, case, n, body):
    """Writes a request to a file, for people who look for the cause of a problem."""
    write(f"{RECORDS}/{agent.name}-{case.__name__}-{n}.json", json.dumps(body, indent=1))


def check(agent, case):
    """Runs a case. Returns its problems, empty if there are none."""
    if version(agent) is None or not os.access(program(agent), os.X_OK):
        raise NotRun("not installed, or not for this machine")
    folder = tempfile.mkdtemp(prefix="blue-clients-")
    try:
        project = Project(folder)
        if (agent, case) in EDIT_CASES:
            return list(case(project, agent))
        for i, body in enumerate(case(project, agent)):
            record(agent, case, i + 1, body)
            found = list(problems(agent, project.texts(), body))
            if found:
                return [f"request {i + 1}: {problem}" for problem in found]
        return []
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(names):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    shutil.rmtree(RECORDS, ignore_errors=True)
    print(", ".join(f"{agent.name} {version(agent) or 'missing'}" for agent in AGENTS))
    for agent, case in CASES + EDIT_CASES:
        if names and agent.name not in names:
            continue
        started = time.monotonic()
        try:
            found = check(agent, case)
            result = "failed" if found else "passed"
        except NotRun as reason:
            found = [f"not run: {reason}"]
            result = "skipped" if agent.name in OPTIONAL else "failed"
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            found = [str(error)]
            result = "failed"
        counts[result] += 1
        seconds = time.monotonic() - started
        print(f"{result:8} {agent.name} {case.__name__} ({seconds:.1f} s)", flush=True)
        for line in found:
            print(f"         {line}", flush=True)
    print(", ".join(f"{n} {result}" for result, n in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


def isolate():
    """Runs this file again where loopback is the only network, and where no process survives it."""
    command = ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child"]
    command += ["--mount-proc"]
    if subprocess.run([*command, "true"], stdin=subprocess.DEVNULL).returncode != 0:
        print("not run: this machine gives no network namespace (unshare)")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    environment = {**os.environ, "BLUE_CLIENTS_ISOLATED": "1"}
    return subprocess.run([*command, sys.executable, *sys.argv], env=environment).returncode


def start_loopback():
    """Starts the loopback interface of a new network namespace, which must have no other."""
    assert [name for _, name in socket.if_nameindex()] == ["lo"], "the network is not isolated"
    get_flags, set_flags, up = 0x8913, 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, get_flags, request))[1]
        fcntl.ioctl(control, set_flags, struct.pack("16sh14x", b"lo", flags | up))


if __name__ == "__main__":
    if "BLUE_CLIENTS_ISOLATED" not in os.environ:
        sys.exit(isolate())
    start_loopback()
    sys.exit(main(sys.argv[1:]))

"""Starts each coding agent without a terminal, with a loopback address as its model."""

import json
import os


class Claude:
    name = "claude"
    package = "@anthropic-ai/claude-code"
    install = []

    def configure(self, home, repository, model):
        return {
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def command(self, prompt, resume=()):
        return ["claude", "-p", *resume, prompt]

    def edit_flags(self):
        return ["--permission-mode", "acceptEdits"]

    def write_calls(self, repository, path, text):
        """The calls that replace a file. The tool only writes files that were read before."""
        path = f"{repository}/{path}"
        return [("Read", {"file_path": path}), ("Write", {"file_path": path, "content": text})]

    def call(self, n, name, arguments):
        return {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": arguments}


class Codex:
    name = "codex"
    package = "@openai/codex"
    install = []

    def configure(self, home, repository, model):
        write(f"{home}/.codex/config.toml", f"""\
model = "gpt-5"
model_provider = "loopback"
check_for_update_on_startup = false

[model_providers.loopback]
name = "loopback"
base_url = "{model}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[projects."{repository}"]
trust_level = "trusted"
""")
        return {}

    def command(self, prompt, flags=()):
        # The trust in a hook is stored by its hash, which only the interactive client writes.
        return ["codex", "exec", "--dangerously-bypass-hook-trust", *flags, prompt]

    def edit_flags(self):
        # Codex offers the tool only for models that it knows.
        return ["--sandbox", "danger-full-access", "--model", "gpt-5.5"]

    def write_calls(self, repository, path, text):
        """The call that replaces a file."""
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch"
        return [("apply_patch", patch)]

    def call(self, n, name, arguments):
        return {
            "type": "custom_tool_call",
            "id": f"item_{n}",
            "call_id": f"call_{n}",
            "name": name,
            "input": arguments,
            "status": "completed",
        }


class Gemini:
    name = "gemini"
    package = "@google/gemini-cli"
    install = ["--agent", "gemini"]

    def configure(self, home, repository, model):
        write(f"{home}/.gemini/trustedFolders.json", json.dumps({repository: "TRUST_FOLDER"}))
        write(f"{home}/.gemini/settings.json", json.dumps({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
        }))
        return {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": model,
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def command(self, prompt):
        return ["gemini", "-m", "gemini-2.5-pro", "-p", prompt]

    def forms(self, text):
        # Text of hooks is escaped. Text that GEMINI.md imports is not.
        return [text, text.replace("<", "&lt;").replace(">", "&gt;")]


class Opencode:
    name = "opencode"
    package = "opencode-ai"
    install = ["--agent", "opencode"]

    def configure(self, home, repository, model):
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{model}/v1", "apiKey": "none"},
            "models": {"scripted": {}},
        }
        write(f"{home}/.config/opencode/opencode.json", json.dumps({
            "provider": {"loopback": provider},
            "model": "loopback/scripted",
            "autoupdate": False,
            "share": "disabled",
        }))
        return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}

    def command(self, prompt):
        return ["opencode", "run", prompt]


class Copilot:
    name = "copilot"
    package = "@github/copilot"
    install = ["--agent", "copilot"]

    def configure(self, home, repository, model):
        write(f"{home}/.copilot/config.json", json.dumps({"trusted_folders": [repository]}))
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{model}/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def command(self, prompt):
        return ["copilot", "-p", prompt]


AGENTS = [Claude(), Codex(), Gemini(), Opencode(), Copilot()]


def forms(agent, text):
    """The forms in which an agent may pass a text on to the model."""
    return agent.forms(text) if hasattr(agent, "forms") else [text]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)

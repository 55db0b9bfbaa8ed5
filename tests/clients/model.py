"""Serves a scripted model on a loopback port.

The server speaks as much of the model APIs as the coding agents need for one turn: Anthropic
messages, OpenAI responses, OpenAI chat completions and Gemini generateContent, each with and
without streaming. Every answer is the same short text; for Anthropic messages and OpenAI responses,
calls of tools can come first. Every request body is recorded.
"""

import gzip
import json
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "Hello."

# An agent that retries without end gets errors after this many requests.
MAX_REQUESTS = 40


class Model:
    """A running server. `requests` has the path and the decoded body of each POST, in order.

    `calls` are the tool calls, as the agent's API writes them, that answer the first requests of the
    conversation, one for each.
    """

    def __init__(self, calls=()):
        self.requests = []
        self.calls = list(calls)
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.model = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def record(self, path, body):
        """Returns False if the agent sent too many requests."""
        with self.lock:
            self.requests.append((path, body))
            return len(self.requests) <= MAX_REQUESTS

    def next_call(self, body):
        """Only a request of the conversation, which offers tools, is answered with a call."""
        with self.lock:
            return self.calls.pop(0) if self.calls and body.get("tools") else None

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    """Answers one request. Connections are closed after each, so that no agent waits for one."""

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.reply(200, "application/json", b"")

    def do_GET(self):
        self.reply_json({"object": "list", "data": [], "models": []})

    def do_POST(self):
        body = self.read_body()
        url = urllib.parse.urlsplit(self.path)
        if not self.server.model.record(url.path, body):
            self.reply_json({"error": {"type": "invalid_request_error", "message": "limit"}}, 400)
            return
        answer = next((answer for end, answer in ANSWERS if re.search(end, url.path)), None)
        if answer is None or not isinstance(body, dict):
            self.reply_json({})
            return
        call = self.server.model.next_call(body) if answer in CALLS else None
        whole, events = CALLS[answer](body, call) if call else answer(body)
        if events and (body.get("stream") or "streamGenerateContent" in url.path):
            self.reply(200, "text/event-stream", "".join(events).encode())
        else:
            self.reply_json(whole)

    def read_body(self):
        data = self.read_chunks() if self.headers.get("Transfer-Encoding") else self.read_length()
        if self.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        try:
            return json.loads(data)
        except ValueError:
            return data.decode("utf-8", "replace")

    def read_length(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def read_chunks(self):
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def reply_json(self, value, status=200):
        self.reply(status, "application/json", json.dumps(value).encode())

    def reply(self, status, content_type, data):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


def named_events(events):
    """Server-sent events whose name is their `type`."""
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def anthropic_message(body, name):
    return {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "model"),
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def anthropic_messages(body):
    message = anthropic_message(body, "1")
    started = {**message, "content": [], "stop_reason": None}
    whole = {
        **message,
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn",
    }
    return whole, named_events([
        {"type": "message_start", "message": started},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": ANSWER},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": message["usage"],
        },
        {"type": "message_stop"},
    ])


def anthropic_call(body, call):
    message = anthropic_message(body, call["id"])
    started = {**message, "content": [], "stop_reason": None}
    whole = {**message, "content": [call], "stop_reason": "tool_use"}
    text = {"type": "input_json_delta", "partial_json": json.dumps(call["input"])}
    return whole, named_events([
        {"type": "message_start", "message": started},
        {"type": "content_block_start", "index": 0, "content_block": {**call, "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": text},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": message["usage"],
        },
        {"type": "message_stop"},
    ])


def anthropic_count(_):
    return {"input_tokens": 1}, []


def openai_response(body, name, output):
    return {
        "id": f"resp_{name}",
        "object": "response",
        "created_at": 0,
        "model": body.get("model", "model"),
        "status": "completed",
        "output": [output],
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }


def numbered_events(events):
    return named_events({**event, "sequence_number": i} for i, event in enumerate(events))


def openai_responses(body):
    content = {"type": "output_text", "text": ANSWER, "annotations": []}
    item = {"type": "message", "id": "item_1", "role": "assistant", "status": "completed"}
    response = openai_response(body, "1", {**item, "content": [content]})
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    place = {"item_id": "item_1", "output_index": 0, "content_index": 0}
    events = [
        {"type": "response.created", "response": started},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **place, "part": {**content, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": ANSWER},
        {"type": "response.output_text.done", **place, "text": ANSWER},
        {"type": "response.content_part.done", **place, "part": content},
        {"type": "response.output_item.done", "output_index": 0, "item": response["output"][0]},
        {"type": "response.completed", "response": response},
    ]
    return response, numbered_events(events)


def openai_call(body, call):
    response = openai_response(body, call["call_id"], call)
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    events = [
        {"type": "response.created", "response": started},
        {"type": "response.output_item.added", "output_index": 0, "item": call},
        {"type": "response.output_item.done", "output_index": 0, "item": call},
        {"type": "response.completed", "response": response},
    ]
    return response, numbered_events(events)


def openai_chat(body):
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    base = {"id": "chat_1", "created": 0, "model": body.get("model", "model")}
    message = {"role": "assistant", "content": ANSWER}

    def chunk(delta, reason, usage=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**base, "object": "chat.completion.chunk", "choices": [choice], "usage": usage}

    whole = {
        **base,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }
    chunks = [chunk(message, None), chunk({}, "stop", usage)]
    return whole, [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]


def gemini_content(_):
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": [{"text": ANSWER}]},
        "finishReason": "STOP",
    }
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    whole = {"candidates": [candidate], "usageMetadata": usage}
    return whole, [f"data: {json.dumps(whole)}\n\n"]


def gemini_count(_):
    return {"totalTokens": 1}, []


# The first pattern that matches the path of a request decides the answer.
ANSWERS = [
    (r"/messages/count_tokens$", anthropic_count),
    (r"/messages$", anthropic_messages),
    (r"/responses$", openai_responses),
    (r"/chat/completions$", openai_chat),
    (r":(streamG|g)enerateContent$", gemini_content),
    (r":countTokens$", gemini_count),
]

# The answers that have a form with the call of a tool.
CALLS = {anthropic_messages: anthropic_call, openai_responses: openai_call}

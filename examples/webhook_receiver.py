"""A receiver of webhooks: verifies each message with the official Standard Webhooks library, processes each message once, and reverts
messages about blocks that a reorganisation removed. It writes a message to disk before it answers 2xx, so it may be killed at any moment.

    pip install standardwebhooks
    WEBHOOK_SECRET=whsec_... python3 examples/webhook_receiver.py [port] [file]

Run it behind a proxy that terminates https, or on the machine of a service with WEBHOOK_LOCAL_RECEIVERS=true.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

LONGEST_BODY = 1024 * 1024
port = int(sys.argv[1]) if len(sys.argv) > 1 else 8090
file = sys.argv[2] if len(sys.argv) > 2 else "webhook-messages.jsonl"
secret = os.environ.get("WEBHOOK_SECRET")
if not secret:
    print("WEBHOOK_SECRET is missing: it was shown when the webhook was registered", file=sys.stderr)
    sys.exit(2)
webhook = Webhook(secret)
lock = threading.Lock()

# One line per message: [id, message]. A line that a kill truncated was never acknowledged, so the service sends it again.
with open(file, "a+b") as kept:
    kept.seek(0)
    whole = kept.read().rpartition(b"\n")[0]
    kept.truncate(len(whole) + 1 if whole else 0)
taken: dict[str, dict] = dict(json.loads(line) for line in whole.splitlines())
out = os.open(file, os.O_WRONLY | os.O_APPEND)


def append(line: bytes) -> None:
    """Removes what a failed write left, so that every line stays whole."""
    size = os.fstat(out).st_size
    try:
        while line:
            line = line[os.write(out, line) :]
        os.fsync(out)
    except OSError:
        os.ftruncate(out, size)
        raise


def take(message_id: str, message: dict) -> None:
    with lock:
        if message_id in taken:  # sent again because our answer was lost
            return
        append(json.dumps([message_id, message]).encode() + b"\n")
        taken[message_id] = message
        reverted = {other["reverts"] for other in taken.values() if "reverts" in other}
    if "reverts" in message:
        print(f"takes back {message['reverts']}", flush=True)
    elif message_id not in reverted:  # its revert may have arrived first
        print(f"{message['type']} {message.get('chain', '')} {json.dumps(message['data'])}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = self.headers.get("content-length", "")
        if not size.isdecimal() or len(size) > 9 or int(size) > LONGEST_BODY:
            self.close_connection = True  # the unread body would be parsed as the next request
            return self.answer(400)
        body = self.rfile.read(int(size))
        try:
            # The signature covers the bytes as received: verify before parsing. verify() also refuses old messages.
            message = webhook.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            return self.answer(401)
        take(self.headers["webhook-id"], message)
        return self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        pass


server = ThreadingHTTPServer(("", port), Receiver)
print(f"listening on {server.server_address[1]}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass

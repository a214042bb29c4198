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
webhook = Webhook(os.environ["WEBHOOK_SECRET"])
lock = threading.Lock()

# One line per message: [id, message]. A line that a kill truncated was never acknowledged, so the service sends it again.
with open(file, "a+b") as kept:
    kept.seek(0)
    whole = kept.read().rpartition(b"\n")[0]
    kept.truncate(len(whole) + 1 if whole else 0)
taken: dict[str, dict] = dict(json.loads(line) for line in whole.splitlines())
out = open(file, "a", encoding="utf-8")


def take(message_id: str, message: dict) -> None:
    with lock:
        if message_id in taken:  # sent again because our answer was lost
            return
        out.write(json.dumps([message_id, message]) + "\n")
        out.flush()
        os.fsync(out.fileno())
        taken[message_id] = message
        reverted = {other["reverts"] for other in taken.values() if "reverts" in other}
    if "reverts" in message:
        print(f"takes back {message['reverts']}", flush=True)
    elif message_id not in reverted:  # its revert may have arrived first
        print(f"{message['type']} {message.get('chain', '')} {json.dumps(message['data'])}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or -1)
        if not 0 <= size <= LONGEST_BODY:
            return self.answer(400)
        body = self.rfile.read(size)
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

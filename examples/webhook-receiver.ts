/**
 * A receiver of webhooks: verifies each message with the official Standard Webhooks library, processes each message once, and reverts
 * messages about blocks that a reorganisation removed. It writes a message to disk before it answers 2xx, so it may be killed at any moment.
 *
 *   WEBHOOK_SECRET=whsec_… node examples/webhook-receiver.ts [port] [file]
 *
 * Run it behind a proxy that terminates https, or on the machine of a service with WEBHOOK_LOCAL_RECEIVERS=true.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

interface Message {
  readonly type: string;
  readonly timestamp: string;
  readonly chain?: string;
  /** Id of the message that this message reverts. */
  readonly reverts?: string;
  readonly data: unknown;
}

const LONGEST_BODY = 1024 * 1024;
const [port = '8090', file = 'webhook-messages.jsonl'] = process.argv.slice(2);
const { WEBHOOK_SECRET: secret } = process.env;
if (!secret) {
  console.error('WEBHOOK_SECRET is missing: it was shown when the webhook was registered');
  process.exit(2);
}
const webhook = new Webhook(secret);

/** One line per message: [id, message]. A line that a kill truncated was never acknowledged, so the service sends it again. */
const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
if (whole.length < bytes.length) truncateSync(file, whole.length);
const lines = whole.toString('utf8').split('\n').slice(0, -1);
const taken = new Map(lines.map((line) => JSON.parse(line) as [string, Message]));
const out = openSync(file, 'a');
let size = whole.length;

/** Removes what a failed write left, so that every line stays whole. */
function append(line: Buffer): void {
  try {
    writeFileSync(out, line);
    fsyncSync(out);
  } catch (error) {
    ftruncateSync(out, size);
    throw error;
  }
  size += line.length;
}

function take(id: string, message: Message): void {
  if (taken.has(id)) return; // sent again because our answer was lost
  append(Buffer.from(`${JSON.stringify([id, message])}\n`));
  taken.set(id, message);
  const back = [...taken.values()].some(({ reverts }) => reverts === id); // its revert arrived first
  if (message.reverts) console.log(`takes back ${message.reverts}`);
  else if (!back) console.log(`${message.type} ${message.chain ?? ''} ${JSON.stringify(message.data)}`);
}

async function read(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > LONGEST_BODY) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const server = createServer(async (request, response) => {
  const answer = (status: number) => response.writeHead(status).end();
  try {
    const body = request.method === 'POST' ? await read(request) : null;
    if (body === null) return answer(400);
    // The signature covers the bytes as received: verify before parsing. verify() also refuses old messages.
    const message = webhook.verify(body, request.headers as Record<string, string>) as Message;
    take(String(request.headers['webhook-id']), message);
    return answer(204);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return answer(401);
    console.error(error);
    return answer(500); // the service will send it again
  }
});
server.listen(Number(port), () => console.log(`listening on ${(server.address() as AddressInfo).port}`));
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close(() => closeSync(out));
    server.closeIdleConnections();
  });
}

/** Webhook receivers in their own process: they answer 204 and count each message once. Controlled by the parent process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers once this many messages have arrived since the last answer. */
export interface ReceiverOrder {
  readonly messages: number;
}

const seen = new Set<string>();
let awaited = 0;

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(204).end();
    seen.add(String(request.headers['webhook-id']));
    answer();
  });
});

function answer(): void {
  if (awaited === 0 || seen.size < awaited) return;
  process.send?.({ messages: seen.size });
  seen.clear();
  awaited = 0;
}

process.on('message', ({ messages }: ReceiverOrder) => {
  awaited = messages;
  answer();
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

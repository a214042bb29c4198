/** A webhook receiver that behaves as the test decides and records its requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';

export interface Received {
  readonly id: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds of a monotonic clock. */
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Largest number of concurrent requests. */
  readonly mostAtOnce: number;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export type Behaviour = (response: ServerResponse, received: Received) => void | Promise<void>;

export const answers =
  (status: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end();
  };

/** Accepts the request and never answers. */
export const hangs: Behaviour = () => undefined;

/** Answers with 10 GB, as fast as the client reads. */
export const endless: Behaviour = async (response) => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  response.writeHead(200, { 'content-length': String(10 * 1024 ** 3) });
  while (!response.destroyed) {
    if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  }
};

/** Answers with one byte every 50 ms, for ever. */
export const drips: Behaviour = async (response) => {
  response.writeHead(200);
  while (!response.destroyed) {
    response.write('x');
    await sleep(50);
  }
};

export async function startReceiver(first: Behaviour = answers(204)): Promise<Receiver> {
  const received: Received[] = [];
  let behaviour = first;
  let underWay = 0;
  let mostAtOnce = 0;
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    response.once('close', () => {
      underWay -= 1;
    });
    response.on('error', () => undefined);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = request.headers as Record<string, string>;
    const body = Buffer.concat(chunks).toString('utf8');
    const one = { id: headers['webhook-id'] ?? '', body, headers, at: performance.now() };
    received.push(one);
    await behaviour(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    get mostAtOnce() {
      return mostAtOnce;
    },
    behave(next) {
      behaviour = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the message after the official library has verified its signature. @throws WebhookVerificationError */
export function verified<T>({ body, headers }: Received, secret: string): T {
  return new Webhook(secret).verify(body, headers) as T;
}

/** A proxy between an S3 client and its server that ends chosen connections without an answer. */
import { createServer, request as forward, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * `request`: the server does not receive it. `answer`: it does. `text`: the answer breaks off in the middle. A status replaces the answer.
 */
export type Loss = 'request' | 'answer' | 'text' | 409 | 503;

export interface LosingProxy {
  readonly url: string;
  /** As `PUT /bucket/key`, in order of arrival. */
  readonly requests: string[];
  /** Loses the next requests of the method in these ways. `then` runs before the client notices. */
  lose(method: string, losses: readonly Loss[], then?: () => Promise<void>): void;
  stop(): Promise<void>;
}

export async function startLosingProxy(target: string): Promise<LosingProxy> {
  const requests: string[] = [];
  let planned: { readonly method: string; readonly losses: Loss[]; readonly then: () => Promise<void> } | null = null;
  const server = createServer(async (req, res) => {
    const { method = '', url = '', headers } = req;
    requests.push(`${method} ${new URL(url, target).pathname}`);
    const plan = planned?.method === method ? planned : null;
    const loss = plan?.losses.shift();
    const sent = await buffer(req);
    if (loss === 'request') {
      await plan?.then();
      return void res.destroy();
    }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      forward(new URL(url, target), { method, headers }, resolve).on('error', reject).end(sent);
    });
    const body = await buffer(answer);
    if (loss) await plan?.then();
    if (loss === 'answer') return void res.destroy();
    if (typeof loss === 'number') return void res.writeHead(loss).end();
    res.writeHead(answer.statusCode ?? 500, answer.headers);
    if (loss === 'text') res.write(body.subarray(0, body.length / 2), () => res.destroy());
    else res.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    lose(method, losses, then = async () => undefined) {
      planned = { method, losses: [...losses], then };
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

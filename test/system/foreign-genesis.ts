/** A proxy in front of the recorded node; while `foreign` is true, it imitates a chain with the same name and another genesis block. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { recordedText } from '../support/processors/recorded-chain.ts';

export interface ForeignGenesis {
  readonly url: string;
  foreign: boolean;
}

const [firstLine = ''] = recordedText('blocks.jsonl.gz').split('\n', 1);
const { hash: GENESIS } = JSON.parse(firstLine) as { hash: string };
const OTHER = GENESIS.replaceAll(/./g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16));

export async function startForeignGenesis(nodeUrl: string): Promise<ForeignGenesis> {
  const { origin, username, password } = new URL(nodeUrl);
  const server = createServer(async (request, response) => {
    const { authorization = '' } = request.headers;
    const body = await buffer(request);
    try {
      const answer = await fetch(origin, { method: 'POST', headers: { authorization }, body });
      const text = await answer.text();
      response.writeHead(answer.status).end(proxy.foreign ? text.replaceAll(GENESIS, OTHER) : text);
    } catch {
      response.destroy(); // as the node itself does when it stops
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const proxy: ForeignGenesis = { url: `http://${username}:${password}@127.0.0.1:${port}`, foreign: true };
  return proxy;
}

/** A proxy in front of the recorded node; while `fork` is a height, the blocks above it have other hashes, like another branch. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { recordedText } from '../support/processors/recorded-chain.ts';

export interface OtherBranch {
  readonly url: string;
  /** Newest height with its recorded hash; null means all heights. */
  fork: number | null;
  /** The hash that is shown for a recorded hash. */
  shown(hash: string): string;
  stop(): void;
}

const HASH = /[0-9a-f]{64}/g;

export async function startOtherBranch(nodeUrl: string): Promise<OtherBranch> {
  const heights = recordedHeights();
  const { origin, username, password } = new URL(nodeUrl);
  const server = createServer(async (request, response) => {
    const { authorization = '' } = request.headers;
    const body = (await buffer(request)).toString();
    const answer = await fetch(origin, {
      method: 'POST',
      headers: { authorization },
      body: body.replaceAll(HASH, asked),
    });
    response.writeHead(answer.status).end((await answer.text()).replaceAll(HASH, branch.shown));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = (hash: string) => (heights.has(complement(hash)) ? complement(hash) : hash);
  const branch: OtherBranch = {
    url: `http://${username}:${password}@127.0.0.1:${port}`,
    fork: null,
    shown: (hash) => (branch.fork !== null && (heights.get(hash) ?? 0) > branch.fork ? complement(hash) : hash),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return branch;
}

function recordedHeights(): Map<string, number> {
  const lines = recordedText('blocks.jsonl.gz').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const { hash, height } = JSON.parse(line) as { hash: string; height: number };
      return [hash, height];
    }),
  );
}

function complement(hash: string): string {
  return hash.replaceAll(/./g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16));
}

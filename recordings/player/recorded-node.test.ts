import { request as httpRequest } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rawMember } from '../../domain/json/raw-json.ts';
import type { ReceivedRequest } from './daemon-server.ts';
import { readLines } from './read-lines.ts';
import { callKey, type RecordedCase, readCases } from './recorded-calls.ts';
import { type RecordedNode, startRecordedNode } from './recorded-node.ts';

const folder = fileURLToPath(new URL('../private-network/', import.meta.url));
const credentials = { user: 'user', password: 'password' };

interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface HttpRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly auth?: boolean;
  readonly body?: Uint8Array | string;
}

/** Rejects when the connection ends before the whole answer has arrived. */
function ask(node: RecordedNode, question: HttpRequest): Promise<HttpAnswer> {
  const { method = 'POST', path = '/', headers = {}, auth = true, body = '' } = question;
  const { port, username, password } = new URL(node.url);
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const sent = { ...(auth ? { Authorization: basic } : {}), 'Content-Length': Buffer.byteLength(body), ...headers };
  return new Promise((resolve, reject) => {
    // A new connection for each request: the server closes connections that were idle for five seconds, even when a request is just
    // arriving.
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: sent, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

const post = (node: RecordedNode, body: string) => ask(node, { body });

async function rpc<T>(node: RecordedNode, method: string, ...params: unknown[]): Promise<T> {
  const answer = await post(node, JSON.stringify({ id: 'x', method, params }));
  const { result, error } = JSON.parse(answer.body) as { result: T; error: { code: number; message: string } | null };
  if (error) throw new Error(`${error.code} ${error.message}`);
  return result;
}

describe('at the recorded tip', () => {
  let node: RecordedNode;
  beforeAll(async () => {
    node = await startRecordedNode({ folder, ...credentials });
  });
  afterAll(() => node.stop());

  test('every recorded call is answered byte for byte', async () => {
    const cases = [...readCases(folder)];
    const bodies = new Map<string, string[]>();
    const key = (recorded: RecordedCase) =>
      callKey(rawMember(recorded.request, 'method') ?? '', rawMember(recorded.request, 'params') ?? '');
    for (const recorded of cases) {
      if ('body' in recorded) bodies.set(key(recorded), [...(bodies.get(key(recorded)) ?? []), `${recorded.body}\n`]);
    }
    expect(cases.length).toBe(3138);
    const wrong: unknown[] = [];
    for (const recorded of cases) {
      const request = recorded.request;
      const body = `{"id":"x","jsonrpc":"1.0",${request.slice(1)}`;
      const answer = await post(node, body).catch(() => null);
      // A call recorded twice has two right answers, because the mempool changed in between.
      const right =
        'body' in recorded
          ? answer?.status === recorded.status && bodies.get(key(recorded))?.includes(answer.body)
          : answer === null;
      if (!right) wrong.push([recorded.name, answer?.status, answer?.body.slice(0, 300)]);
    }
    expect(wrong).toEqual([]);
  });

  test('every recorded HTTP exchange is reproduced', async () => {
    interface WireCase {
      name: string;
      request: {
        method: string;
        path: string;
        headers: Record<string, string | null> | null;
        auth: boolean;
        body: string | null;
      };
      response: { status?: number; headers?: Record<string, string>; body?: string; transport_error?: string };
    }
    const wrong: unknown[] = [];
    let count = 0;
    for (const line of readLines(`${folder}/wire.jsonl.gz`)) {
      const { name, request, response } = JSON.parse(line.toString('utf8')) as WireCase;
      count++;
      const headers = Object.fromEntries(
        Object.entries(request.headers ?? {}).filter((entry): entry is [string, string] => entry[1] !== null),
      );
      const { method, path, auth } = request;
      const answer = await ask(node, { method, path, headers, auth, body: wireBody(name, request.body ?? '') }).catch(
        () => null,
      );
      if (response.transport_error !== undefined) {
        if (answer !== null) wrong.push([name, answer]);
        continue;
      }
      const expected = { status: response.status, body: response.body };
      if (answer?.status !== expected.status || answer?.body !== expected.body) wrong.push([name, expected, answer]);
      for (const header of ['Content-Type', 'WWW-Authenticate', 'Connection'] as const) {
        if (method === 'HEAD') continue;
        const [want, got] = [response.headers?.[header], answer?.headers[header.toLowerCase()]];
        if (want !== got && !(header === 'Connection' && want === undefined)) wrong.push([name, header, want, got]);
      }
    }
    expect(wrong).toEqual([]);
    expect(count).toBe(131);
  });
});

describe('the played chain', () => {
  interface Block {
    readonly hash: string;
    readonly height: number;
    readonly confirmations: number;
    readonly previousblockhash?: string;
    readonly nextblockhash?: string;
  }

  test('a jump beyond the history takes the place of the first jump to it', async () => {
    const node = await startRecordedNode({ folder, ...credentials, startHeight: 0, historyHeight: 830 });
    node.advanceTo(840);
    node.step();
    expect(node.height).toBe(841);
    await node.stop();
  });

  test('the chain of a follower is always linked, goes through the reorganisation and ends as the recorded chain', async () => {
    const node = await startRecordedNode({ folder, ...credentials, startHeight: 0, historyHeight: 830 });
    const chain: Block[] = [];
    const tips: number[] = [];
    try {
      for (;;) {
        const best = await rpc<string>(node, 'getbestblockhash');
        let fresh = [await rpc<Block>(node, 'getblock', best, 2)];
        const [tip] = fresh;
        expect([tip?.height, tip?.confirmations, tip?.nextblockhash]).toEqual([node.height, 1, undefined]);
        const first = () => fresh[0] as Block;
        while (first().height > 0 && chain.at(-1)?.hash !== first().previousblockhash) {
          const last = chain.at(-1);
          if (last && last.height >= first().height) {
            chain.pop();
            const lost = await rpc<Block>(node, 'getblock', last.hash);
            expect([lost.confirmations, lost.nextblockhash]).toEqual([-1, undefined]);
          } else fresh = [await rpc<Block>(node, 'getblock', first().previousblockhash, 2), ...fresh];
        }
        chain.push(...fresh);
        tips.push(node.height);
        if (node.ended) break;
        node.step();
      }
      const abandoned = [846, 847, 848, 849, 850, 851, 852, 853, 854];
      const toFork = Array.from({ length: 16 }, (_, index) => 830 + index);
      expect(tips.slice(0, 28)).toEqual([0, ...toFork, ...abandoned, 852, 853]);
      expect(tips.length).toBe(1 + 16 + 9 + (node.tip - 851));
      const hashes = await Promise.all(chain.map(({ height }) => rpc<string>(node, 'getblockhash', height)));
      expect(chain.map(({ hash }) => hash)).toEqual(hashes);
      node.step();
      expect([node.height, node.ended]).toEqual([node.tip, true]);
    } finally {
      await node.stop();
    }
  });

  test('later blocks are not revealed, neither by height nor by hash', async () => {
    const node = await startRecordedNode({ folder, ...credentials });
    try {
      const later = await rpc<string>(node, 'getblockhash', 846);
      const later2 = await rpc<Block>(node, 'getblock', '900');
      node.advanceTo(845);
      await expect(rpc(node, 'getblockhash', 846)).rejects.toThrow('-8 Block height out of range');
      await expect(rpc(node, 'getblock', '846')).rejects.toThrow('-8 Block height out of range');
      await expect(rpc(node, 'getblockheader', later2.hash)).rejects.toThrow('-5 Block not found');
      node.branch('orphan', 846);
      expect(await rpc(node, 'getbestblockhash')).not.toBe(later);
      await expect(rpc(node, 'getblock', later)).rejects.toThrow('-5 Block not found');
    } finally {
      await node.stop();
    }
  });

  test('below the recorded tip, only methods that follow from blocks or do not depend on the chain are answered', async () => {
    const node = await startRecordedNode({ folder, ...credentials, startHeight: 700 });
    try {
      await expect(rpc(node, 'getmempoolinfo')).rejects.toThrow(
        '-1 not in the recording at height 700: getmempoolinfo []',
      );
      await expect(rpc(node, 'coinsupply')).rejects.toThrow('-1 not in the recording');
      await expect(rpc(node, 'getblockcount', 1)).rejects.toThrow('-1 getblockcount\n\nReturns the number of blocks');
      await expect(rpc(node, 'getrawmempool', 'x')).rejects.toThrow('-1 JSON value is not a boolean as expected');
      await expect(rpc(node, 'nosuchmethod')).rejects.toThrow('-32601 Method nosuchmethod not found');
      expect(await rpc(node, 'hashdata', '68656c6c6f')).toMatch(/^[0-9a-f]{64}$/);
    } finally {
      await node.stop();
    }
  });

  test('transactions of the next block wait in the mempool, and transactions that a reorganisation removes wait again', async () => {
    const node = await startRecordedNode({ folder, ...credentials, startHeight: 782 });
    const waiting = async () => (await rpc(node, 'getrawmempool')) as string[];
    const placeOf = async (txid: string) => {
      const { txid: own, height = null } = (await rpc(node, 'getrawtransaction', txid, 1)) as {
        txid: string;
        height?: number;
      };
      return [own, height];
    };
    try {
      const [txid = '', ...others] = await waiting();
      expect(others).toHaveLength(1);
      expect(await placeOf(txid)).toEqual([txid, null]);
      node.step();
      expect(await placeOf(txid)).toEqual([txid, 783]);
      expect(await waiting()).not.toContain(txid);

      node.branch('orphan');
      const abandoned = node.height;
      node.advanceTo(845);
      const back = await waiting();
      expect(back.length).toBeGreaterThan(10);
      node.branch('orphan', abandoned);
      for (const one of back.slice(0, 3)) expect((await placeOf(one))[1]).toBeGreaterThan(845);
    } finally {
      await node.stop();
    }
  });

  test('advances at its pace until it is stopped', async () => {
    const node = await startRecordedNode({ folder, ...credentials, startHeight: 10, paceSeconds: 0.01 });
    await expect.poll(() => node.height).toBeGreaterThan(13);
    node.setFaults({ stalledTip: true });
    const stalled = node.height;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect([node.height, await rpc(node, 'getblockcount')]).toEqual([stalled, stalled]);
    node.setFaults({});
    await expect.poll(() => node.height).toBeGreaterThan(stalled);
    await node.stop();
    const stopped = node.height;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(node.height).toBe(stopped);
    await expect(rpc(node, 'getblockcount')).rejects.toThrow('ECONNREFUSED');
  });

  test('a node that goes backwards', async () => {
    const node = await startRecordedNode({ folder, ...credentials, startHeight: 600 });
    try {
      node.back(150);
      expect(await rpc(node, 'getblockcount')).toBe(450);
      node.step();
      expect(node.height).toBe(451);
      expect(() => node.back(500)).toThrow(RangeError);
      expect(() => node.advanceTo(5000)).toThrow(RangeError);
    } finally {
      await node.stop();
    }
  });
});

describe('faults', () => {
  let node: RecordedNode;
  const received: ReceivedRequest[] = [];
  beforeAll(async () => {
    node = await startRecordedNode({ folder, ...credentials, onRequest: (request) => received.push(request) });
  });
  afterEach(() => node.setFaults({}));
  afterAll(() => node.stop());
  const count = () => post(node, '{"id":1,"method":"getblockcount"}');

  test('errors at a rate, the same errors for the same seed', async () => {
    const run = async (seed: number) => {
      node.setFaults({ errorRate: 0.5, seed });
      const statuses: number[] = [];
      for (let index = 0; index < 40; index++) statuses.push((await count()).status);
      return statuses;
    };
    const statuses = await run(7);
    expect(new Set(statuses)).toEqual(new Set([200, 500]));
    expect(await run(7)).toEqual(statuses);
    expect(await run(8)).not.toEqual(statuses);
  });

  test('only the named methods', async () => {
    node.setFaults({ errorRate: 1, methods: ['getdifficulty'] });
    expect((await count()).status).toBe(200);
    expect((await post(node, '{"method":"getdifficulty"}')).body).toContain('"message":"injected error"');
  });

  test('warm-up', async () => {
    node.setFaults({ warmUp: true });
    const expected = '{"result":null,"error":{"code":-28,"message":"Loading block index..."},"id":1}\n';
    expect(await count()).toMatchObject({ status: 500, body: expected });
  });

  test('a full work queue', async () => {
    node.setFaults({ busyRate: 1 });
    expect(await count()).toMatchObject({ status: 500, body: 'Work queue depth exceeded' });
    expect((await count()).headers['content-type']).not.toContain('json');
  });

  test('credentials that are no longer valid', async () => {
    node.setFaults({ wrongAuth: true });
    expect(await count()).toMatchObject({ status: 401, body: '' });
  });

  test('a body that is not JSON', async () => {
    node.setFaults({ garbageRate: 1 });
    const { status, body } = await count();
    expect(status).toBe(200);
    expect(() => JSON.parse(body)).toThrow(SyntaxError);
  });

  test('a truncated body, and a closed connection', async () => {
    node.setFaults({ cutRate: 1 });
    await expect(count()).rejects.toThrow('aborted');
    node.setFaults({ closeRate: 1 });
    await expect(count()).rejects.toMatchObject({ code: 'ECONNRESET' });
    node.setFaults({});
    expect((await count()).status).toBe(200);
  });

  test('a late answer', async () => {
    node.setFaults({ timeoutRate: 1, timeoutSeconds: 0.2 });
    const asked = performance.now();
    expect((await count()).status).toBe(200);
    expect(performance.now() - asked).toBeGreaterThan(190);
  });

  test('stopping the node ends a request that is never answered', async () => {
    const other = await startRecordedNode({ folder, ...credentials });
    other.setFaults({ timeoutRate: 1 });
    const answer = post(other, '{"id":1,"method":"getblockcount"}');
    const lost = expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
    await ask(other, { method: 'GET' }); // this request is refused at once, and by then the previous call has arrived
    await other.stop();
    await lost;
  });

  test('onRequest receives every request with its calls and its status', async () => {
    received.length = 0;
    await ask(node, { auth: false, body: '{"method":"stop"}' });
    await post(node, '[{"method":"getblockhash","params":[ 7]},{"method":5}]');
    expect(received).toMatchObject([
      { httpMethod: 'POST', path: '/', authorization: undefined, calls: [], status: 401 },
      { calls: [{ method: 'getblockhash', params: '[ 7]' }], status: 200 },
    ]);
  });
});

/** Long bodies were abbreviated in the recording, and bytes that are not UTF-8 were lost; this restores both. */
function wireBody(name: string, body: string): Uint8Array | string {
  if (name === 'invalid-utf8') return Buffer.from('{"id":1,"method":"getidentity","params":["\xff\xfe@"]}', 'latin1');
  const size = Number(/\.\.\.\((\d+) bytes\)$/.exec(body)?.[1] ?? Number.NaN);
  if (Number.isNaN(size)) return body;
  const padded = body.indexOf('"pad":"');
  if (padded >= 0) {
    const head = body.slice(0, padded + '"pad":"'.length);
    return `${head}${'a'.repeat(size - head.length - 2)}"}`;
  }
  const head = body.slice(0, body.indexOf('['));
  const depth = (size - head.length - 1) / 2;
  return `${head}${'['.repeat(depth)}${']'.repeat(depth)}}`;
}

/** The mempool of the recorded node, over HTTP, while its blocks arrive, are removed and arrive again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../infra/metrics.ts';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import { openMempool } from '../../pipeline/mempool/follow-mempool.ts';
import type { MempoolLook } from '../../schemas/mempool.ts';
import { RECORDED_CHAIN } from '../support/processors/recorded-chain.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import { StreamReader } from './stream-reader.ts';
import type { LooseJson } from './truth.ts';

let service: RunningService;
let key = '';
const START = 838;
const FORK = 845;
const TIP = 1551;

beforeAll(async () => {
  service = await startService({ startHeight: START });
  await service.settled();
  key = await service.issueKey('developer');
}, 300_000);

afterAll(() => service?.stop());

async function get(path: string): Promise<LooseJson> {
  return (await fetch(`${service.url}${path}`)).json();
}

async function ofDaemon(method: string, ...params: unknown[]): Promise<LooseJson> {
  const { origin, username, password } = new URL(service.node.url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const body = JSON.stringify({ id: 1, method, params });
  const answer = await fetch(origin, { method: 'POST', headers: { authorization }, body });
  return ((await answer.json()) as LooseJson).result;
}

/** A mempool with less room keeps the highest fee rates, and reports how many it leaves out. */
async function leavesOutTheLowest(results: readonly LooseJson[], transactions: number): Promise<void> {
  const { postgres } = service.stores;
  const logger = pino({ level: 'silent' });
  const daemon = createVerusdClient({ rpc: service.node.url, chain: CHAIN, logger });
  const room = { transactions, bytes: 1e9 };
  const mempool = openMempool({ chain: RECORDED_CHAIN, daemon, pool: postgres.pool, logger, room, everyMs: 50 });
  const waiting = new Map<string, number>();
  let last: MempoolLook | null = null;
  mempool.follow((look) => {
    last = look;
    for (const { kind, transaction } of look.changes) {
      if (kind === 'gone') waiting.delete(transaction.txid);
      else waiting.set(transaction.txid, Number(transaction.fee) / transaction.size);
    }
  });
  await expect.poll(() => last).toMatchObject({ listed: results.length, withheld: results.length - transactions });
  await mempool.close();
  await daemon.close();
  const rates = results.map(({ feeRate }) => Number(feeRate)).sort((a, b) => b - a);
  const kept = [...waiting.values()].sort((a, b) => b - a);
  for (const [at, rate] of kept.entries()) expect(rate).toBeCloseTo(rates[at] ?? 0, 6);
  expect(kept).toHaveLength(transactions);
}

/** Waits until the service shows what the daemon holds, at its block. */
async function shown(): Promise<LooseJson> {
  await service.settled();
  for (let tries = 0; ; tries += 1) {
    const listed: string[] = await ofDaemon('getrawmempool');
    const answer = await get('/api/mempool/?pageSize=200');
    const txids = answer.results?.map(({ txid }: LooseJson) => txid);
    const same = txids && new Set(txids).size === listed.length && listed.every((txid) => txids.includes(txid));
    if (same || tries === 600) {
      expect([...(txids ?? [])].sort()).toEqual([...listed].sort());
      return answer;
    }
    await sleep(50);
  }
}

describe('GET /api/mempool/', () => {
  it('shows what the daemon holds, block by block, over a reorganisation', async () => {
    let most = 0;
    while (service.node.height < FORK + 12) {
      const answer = await shown();
      most = Math.max(most, answer.total);
      if (service.node.height === FORK && answer.total > 10) await leavesOutTheLowest(answer.results, 4);
      expect(answer).toMatchObject({ chain: CHAIN, truncated: false, waiting: answer.total, listed: answer.total });
      service.node.step();
    }
    expect(most).toBeGreaterThan(0);
  });
});

/** Applies a message to what a client holds. */
function applied(held: Map<string, LooseJson>, { type, data }: LooseJson): void {
  if (type === 'mempool_snapshot') {
    if (data.first) held.clear();
    for (const transaction of data.transactions) held.set(transaction.txid, transaction);
  } else if (type === 'mempool_tx') {
    expect(held.has(data.txid)).toBe(false);
    held.set(data.txid, data);
  } else if (type === 'mempool_gone') expect(held.delete(data.txid)).toBe(true);
}

/** Each waiting conversion is in the lists of conversions and of estimates. */
async function estimated(results: readonly LooseJson[]): Promise<void> {
  const waiting = results.flatMap(({ txid, conversions }) =>
    conversions.map(({ vout, basketId }: LooseJson) => ({ txid, vout, basketId })),
  );
  const list = await get('/api/mempool/conversions');
  expect(list.results).toMatchObject(waiting);
  expect((await get('/api/mempool/conversions?basket=xeth')).total).toBe(0);
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${service.url}/api/mempool/estimates?pageSize=200`, { headers });
  const { isEstimate, results: all } = (await answer.json()) as LooseJson;
  expect(isEstimate).toBe(true);
  const own = all.filter(({ status }: LooseJson) => status === 'unconfirmed');
  expect(own).toMatchObject(waiting);
  for (const { estimatedOut } of own) expect(estimatedOut).toBeGreaterThan(0);
}

describe('channel mempool', () => {
  it('sends all waiting transactions, then each change, so that a client holds what REST answers', async () => {
    const reader = new StreamReader(service.port);
    await reader.opened();
    reader.send({ op: 'subscribe', id: 1, channels: ['mempool'] });
    expect(await reader.next()).toMatchObject({ type: 'ack', channels: ['mempool'] });
    const held = new Map<string, LooseJson>();
    let cursor = '';
    let gone = 0;
    let converted = 0;
    for (service.node.advanceTo(TIP - 12); service.node.height < TIP; service.node.step()) {
      const { results } = await shown();
      for (;;) {
        const known = Object.fromEntries(held);
        if (Object.keys(known).length === results.length && results.every(({ txid }: LooseJson) => txid in known))
          break;
        const message = await reader.next();
        applied(held, message);
        cursor = message.cursor;
        if (message.type === 'mempool_gone') {
          gone += 1;
          expect(message.data.reason).toBe('mined');
          const { height, blockHash } = await get(`/api/tx/${message.data.txid}`);
          expect([height, blockHash]).toEqual([message.data.height, message.data.hash]);
        }
      }
      expect([...held.values()].sort(byTxid)).toEqual([...results].sort(byTxid));
      await estimated(results);
      converted += [...held.values()].filter(({ conversions }) => conversions.length > 0).length;
    }
    expect(gone).toBeGreaterThan(10);
    expect(converted).toBe(2);
    expect(cursor).not.toBe('');
    await reader.close();
  });
});

describe('at the recorded tip, where the recording holds one of four waiting transactions', () => {
  it('reports that it does not show all', async () => {
    await service.settled();
    await expect.poll(async () => (await get('/api/mempool/')).total, { timeout: 30_000 }).toBe(1);
    const { results, ...status } = await get('/api/mempool/');
    expect(status).toMatchObject({ waiting: 1, listed: 4, truncated: true });
    expect(results[0]).toMatchObject({
      txid: '9b0d613ed4b5ab8c3e0d47921fe8c4a8782d02679ea722cc2252a58d7cae9935',
      type: 'identity_update',
      fee: null,
      size: 690,
      expiryHeight: 1572,
      identities: [{ fullyQualifiedName: 'bob.VRSCTEST', kind: 'content_updated' }],
    });
  });
});

describe('GET /api/mempool/estimates', () => {
  it('needs a key of tier developer', async () => {
    expect((await get('/api/mempool/estimates')).code).toBe('tier_required');
  });

  it('compared the estimate of each waiting conversion with what it paid', async () => {
    const text = await registry.metrics();
    const counted = /verustream_mempool_estimate_error_ratio_count\{chain="vrsc"\} (\d+)/.exec(text)?.[1];
    expect(Number(counted)).toBeGreaterThan(0);
  });
});

describe('with unconfirmed=true', () => {
  it('a transaction, an address and an identity show what waits', async () => {
    const [waiting] = (await get('/api/mempool/')).results;
    const { txid } = waiting;
    expect((await get(`/api/tx/${txid}`)).code).toBe('not_found');
    const detail = await get(`/api/tx/${txid}?unconfirmed=true`);
    expect(detail).toMatchObject({ txid, height: null, blockHash: null, confirmations: 0, unconfirmed: waiting });
    expect(detail.outputs[0]).toMatchObject({ n: 0, kind: 'identityprimary', spentTxid: null });
    const bob = 'i3bCS2hfQXktHXHmXEAxKPeby5cb6Px6Le';
    expect((await get(`/api/address/${bob}`)).unconfirmed).toBeNull();
    const address = await get(`/api/address/${bob}?unconfirmed=true`);
    expect(address.unconfirmed).toMatchObject({ txCount: 1, truncated: true, transactions: [{ txid }] });
    const identity = await get('/api/identity/bob@?unconfirmed=true');
    expect(identity.unconfirmed).toMatchObject([{ txid, kind: 'content_updated', state: { name: 'bob' } }]);
    expect(identity.unconfirmed[0].changes.map(({ field }: LooseJson) => field)).toEqual(['contentmultimap']);
    const mined = await get(`/api/tx/${identity.lastUpdate.txid}?unconfirmed=true`);
    expect([mined.confirmations > 0, mined.unconfirmed]).toEqual([true, null]);
  });

  it('has an ETag that changes with the mempool alone', async () => {
    const etag = async (path: string) => (await fetch(`${service.url}${path}`)).headers.get('etag');
    const path = '/api/identity/bob@';
    expect(await etag(`${path}?unconfirmed=true`)).not.toBe(await etag(path));
    expect(await etag(`${path}?unconfirmed=true`)).toBe(await etag(`${path}?unconfirmed=true`));
  });
});

const byTxid = (a: LooseJson, b: LooseJson) => (a.txid < b.txid ? -1 : 1);

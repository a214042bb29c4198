/** An address that many waiting transactions pay: its answer counts the newest, and reports that there are more. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import { createDecoder, type DecodeUnconfirmed } from '../../pipeline/mempool/decode-unconfirmed.ts';
import { createMempoolLooks } from '../../pipeline/mempool/mempool-looks.ts';
import { type RecordedNode, startRecordedNode } from '../../recordings/player/recorded-node.ts';
import type { UnconfirmedInput } from '../../schemas/mempool.ts';
import { type CrowdedDaemon, startCrowdedDaemon } from '../support/infra/verusd/crowded-mempool.ts';
import { RECORDED_CHAIN } from '../support/processors/recorded-chain.ts';
import { CHAIN, RECORDING, type RunningService, startServiceOn } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const CROWD = 1_100;
const MOST_COUNTED = 1_000;
const ROOM = { transactions: CROWD, bytes: 1e9 };
const { signal } = new AbortController();

let node: RecordedNode;
let crowd: CrowdedDaemon;
let service: RunningService;

beforeAll(async () => {
  node = await startRecordedNode({ folder: RECORDING, user: 'test', password: 'secret', startHeight: 840 });
  crowd = await startCrowdedDaemon(node.url, CROWD);
  const behind = {
    url: crowd.url,
    get height() {
      return node.height;
    },
    get hash() {
      return node.hash;
    },
    async stop() {
      await crowd.stop();
      await node.stop();
    },
  };
  service = (await startServiceOn(behind)) as RunningService;
  await service.settled();
}, 300_000);

afterAll(() => service?.stop());

async function get(path: string): Promise<LooseJson> {
  return (await fetch(`${service.url}${path}`)).json();
}

it('a crowd of transactions is shown page by page, and counted at an address up to a bound', async () => {
  await expect.poll(() => get('/api/mempool/?pageSize=1'), { timeout: 60_000 }).toMatchObject({ waiting: CROWD });
  const fees = new Map<string, number>();
  for (let page = 1; page <= 6; page += 1) {
    const { results, totalPages } = await get(`/api/mempool/?page=${page}&pageSize=200`);
    expect(totalPages).toBe(6);
    for (const { txid, fee } of results) fees.set(txid, Math.round(fee * 1e8));
  }
  expect([...fees.values()].sort((a, b) => b - a)).toEqual(crowd.fees);
  const { unconfirmed } = await get(`/api/address/${crowd.payee}?unconfirmed=true`);
  expect(unconfirmed).toMatchObject({ txCount: MOST_COUNTED, truncated: true });
  expect(unconfirmed.transactions).toHaveLength(200);
  expect((await get('/api/mempool/conversions')).total).toBe(0);
});

it('a transaction is not shown as it was read before the index had the blocks that it spends from', async () => {
  const { pool } = service.stores.postgres;
  const daemon = createVerusdClient({ rpc: crowd.url, chain: CHAIN, logger: pino({ level: 'silent' }) });
  const read = createDecoder({
    chain: RECORDED_CHAIN,
    pool,
    onFault: (txid, cause) => {
      throw new Error(`${txid} cannot be read`, { cause });
    },
  });
  let isFirst = true;
  /** The block that the index lacks at first arrives before the position of the index is read. */
  const decode: DecodeUnconfirmed = async (...asked) => {
    const decoded = await read(...asked);
    if (!isFirst) return decoded;
    isFirst = false;
    node.step();
    await service.settled();
    const transactions = decoded.transactions.map((one) => ({
      ...one,
      fee: null,
      inputs: one.inputs.map((input) => ({ ...input, spent: null })),
    }));
    return { ...decoded, transactions };
  };
  const looks = createMempoolLooks({ chain: CHAIN, daemon, pool, decode, room: ROOM, signal });
  const early = await looks.look();
  expect(early.look.index?.hash).toBe(node.hash);
  expect(early.look.changes).toEqual([]);
  const { look } = await looks.look();
  expect(look.changes.length).toBeGreaterThan(0);
  for (const { transaction } of look.changes) expect(transaction.fee).not.toBeNull();
  await daemon.close();
});

it('a transaction is not shown as it was read while the index had no block: the genesis block credits no address', async () => {
  const { pool } = service.stores.postgres;
  const daemon = createVerusdClient({ rpc: crowd.url, chain: CHAIN, logger: pino({ level: 'silent' }) });
  /** Reads the index of the service, as if its blocks had arrived since the position of the index was read. */
  const read = createDecoder({ chain: RECORDED_CHAIN, pool, onFault: () => undefined });
  let inputs: readonly UnconfirmedInput[] = [];
  const decode: DecodeUnconfirmed = async (...asked) => {
    const decoded = await read(...asked);
    inputs = decoded.transactions.flatMap((transaction) => transaction.inputs);
    return decoded;
  };
  const looks = createMempoolLooks({ chain: 'without-blocks', daemon, pool, decode, room: ROOM, signal });
  const { look } = await looks.look();
  expect(inputs.length).toBeGreaterThan(0);
  for (const { spent } of inputs) expect(spent).not.toBeNull();
  expect(look.changes).toEqual([]);
  await daemon.close();
});

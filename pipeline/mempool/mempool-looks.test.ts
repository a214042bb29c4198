/** A mempool that takes several polls to read: no transaction is shown before one that it spends. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import type { MempoolDaemon } from './daemon-mempool.ts';
import type { DecodeUnconfirmed } from './decode-unconfirmed.ts';
import { createMempoolLooks } from './mempool-looks.ts';

const CHAIN = 'one';
const TIP = 'ab'.repeat(32);
const OTHERS = 400;
const COIN = { value: 5n, currencies: {}, addresses: ['R1'] };

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
  await stores.postgres.pool.query(
    `INSERT INTO stage_positions (stage, chain, position, height, hash, clock) VALUES ('derive', $1, 9, 9, decode($2, 'hex'), 0)`,
    [CHAIN, TIP],
  );
});
afterAll(() => stores?.close());

it('a transaction is shown after one that it spends, whatever the order and number of parts in which they are read', async () => {
  const txidOf = (at: number) => createHash('sha256').update(String(at)).digest('hex');
  const [child, parent] = ['0'.repeat(64), 'f'.repeat(64)];
  const list = [child, ...Array.from({ length: OTHERS }, (_, at) => txidOf(at)), parent];
  const daemon = {
    address: 'here',
    callRaw: async () => ({ bytes: Buffer.alloc(0), value: list }),
    call: async () => TIP,
    forward: async () => ({ status: 200, body: Buffer.from('{"result":{},"error":null,"id":1}') }),
  } as unknown as MempoolDaemon;
  const decode: DecodeUnconfirmed = async (read, waiting) => ({
    unreadable: [],
    transactions: [...read.keys()].map((txid) => {
      const isKnown = waiting.has(parent) || read.has(parent);
      const inputs = txid === child ? [{ txid: parent, n: 0, spent: isKnown ? COIN : null }] : [];
      const nothing = { outputs: [], activity: [], identities: [], transfers: [] };
      return {
        txid,
        kind: 'send',
        kinds: [],
        fee: 1n,
        size: 200,
        lockTime: 0,
        expiryHeight: 0,
        inputs,
        bytes: 2000,
        ...nothing,
      };
    }) as never,
  });
  const { signal } = new AbortController();
  const room = { transactions: 1000, bytes: 1e9 };
  const looks = createMempoolLooks({ chain: CHAIN, daemon, pool: stores.postgres.pool, decode, room, signal });
  const shown: string[] = [];
  for (let tries = 0; tries < 60 && !shown.includes(child); tries += 1) {
    const { look, isMore } = await looks.look();
    for (const { kind, transaction } of look.changes) {
      expect(kind).toBe('waits');
      if (transaction.txid === child) expect(transaction.inputs[0]?.spent).toEqual(COIN);
      shown.push(transaction.txid);
    }
    if (!isMore) await sleep(100);
  }
  expect(shown.indexOf(child)).toBeGreaterThan(shown.indexOf(parent));
  expect(new Set(shown)).toEqual(new Set(list));
});

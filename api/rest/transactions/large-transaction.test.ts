/** /api/tx of the largest transactions: a block has room for 58,000 outputs. */
import { expect, it } from 'vitest';
import { turnsDuring } from '../../../test/support/infra/loop-turns.ts';
import { transactionRoutes } from './routes.ts';

const OUTPUTS = 40_000;
const TXID = 'ab'.repeat(32);

/** A stub of the index with one transaction. */
function indexOf(outputs: string) {
  const row = {
    txid: TXID,
    height: 5,
    tx_index: 1,
    kind: 'transfer',
    kinds: ['transfer'],
    fee: 1n,
    size: 2_000_000,
    lock_time: 0n,
    expiry_height: 0,
    hash: 'cd'.repeat(32),
    time: 1n,
    inputs: null,
    outputs,
  };
  return {
    read: { row: async () => row, state: { derived: new Map([['vrsc', { height: 10, hash: '' }]]), generation: 1 } },
    api: { currencies: { of: async () => ({}) }, chain: () => ({ finalityDepth: 100 }) },
  };
}

it('lets other work run while it prints a transaction of thousands of outputs', async () => {
  const output = { value: '100', currencies: null, addresses: ['R'], kind: 'pubkeyhash', data: null, spent_txid: null };
  const outputs = JSON.stringify(Array.from({ length: OUTPUTS }, (_, n) => ({ n, ...output })));
  const [detail] = transactionRoutes;
  const call = { params: { chain: 'vrsc', txid: TXID }, ...indexOf(outputs) };
  const made = (async () => detail?.handler(call as never))();
  const turns = await turnsDuring(made);
  expect(await made).toMatchObject({
    outputs: { length: OUTPUTS, [OUTPUTS - 1]: { n: OUTPUTS - 1, kind: 'pubkeyhash' } },
  });
  expect(turns).toBeGreaterThan(1);
});

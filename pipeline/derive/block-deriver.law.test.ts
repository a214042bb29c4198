/** The law of a batch: its facts depend only on what it loads from the store. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { MutableChainState } from '../../processors/state/chain-state.ts';
import { createMemoryState } from '../../processors/state/memory-state.ts';
import type { Fact } from '../../schemas/facts.ts';
import { encodeBlocksRecord, type PackedBlock, readBlocksRecord } from '../../schemas/log-codec.ts';
import { damage, damaged } from '../../test/support/processors/damage.ts';
import { RECORDED_CHAIN, recordedBlocks } from '../../test/support/processors/recorded-chain.ts';
import { createBlockDeriver } from './block-deriver.ts';
import type { StoredState } from './stored-state.ts';

const RUNS = Number(process.env.LAWS_RUNS ?? 2);
const blocks = recordedBlocks();
const { signal } = new AbortController();

function recordOf(block: unknown, position: number): PackedBlock {
  const { hash, height, time, previousblockhash } = blocks[position] ?? {};
  if (hash === undefined || height === undefined || time === undefined) throw new RangeError(`no block ${position}`);
  const previousHash = previousblockhash ?? null;
  const text = Buffer.from(stringifyExact(block));
  const record = { kind: 'block', position, height, hash, previousHash, time, block: text } as const;
  return readBlocksRecord(encodeBlocksRecord(record)) as PackedBlock;
}

/** A store that returns only the requested keys. */
function storeOf(state: MutableChainState, currencyIds: ReadonlySet<string>): StoredState {
  const found = <T>(items: readonly (T | undefined)[]): T[] => items.filter((item) => item !== undefined);
  return {
    tip: async () => state.tip,
    lostCoins: async () => state.lostCoins,
    currencies: async () => found([...currencyIds].map((id) => state.currency(id))),
    currencyStates: async () => [...state.currencyStates()],
    outputs: async (keys) => found(keys.map(({ txid, n }) => state.output(txid, n))),
    identities: async (addresses) => found(addresses.map((address) => state.identity(address))),
    exports: async (keys) => found(keys.map(({ txid, n }) => state.export(txid, n))),
    transfers: async (keys) => found(keys.map(({ txid, n }) => state.transfer(txid, n))),
    balances: async (keys) => found(keys.map(([address, currencyId]) => state.balance(address, currencyId))),
  };
}

async function deriveInBatches(records: readonly PackedBlock[], size: number): Promise<(readonly Fact[])[]> {
  const state = createMemoryState(RECORDED_CHAIN);
  const currencyIds = new Set<string>();
  const stored = storeOf(state, currencyIds);
  const all: (readonly Fact[])[] = [];
  for (let next = 0; next < records.length; next += size) {
    const deriver = createBlockDeriver({ chain: RECORDED_CHAIN, stored, signal });
    const derived = await deriver.derive(records.slice(next, next + size), async () => (next === 0 ? null : next - 1));
    for (const { height, block, facts } of derived) {
      state.apply(height, facts);
      state.setTip({ height, hash: block.hash, time: block.time, clock: block.clock });
      for (const fact of facts) if (fact.type === 'currency') currencyIds.add(fact.currencyId);
      all.push(facts);
    }
  }
  return all;
}

it(
  'the recorded chain, whole and damaged, gives the same facts in any batches',
  async () => {
    const damages = fc.array(damage, { minLength: 60, maxLength: 200, size: 'max' });
    await fc.assert(
      fc.asyncProperty(damages, fc.integer({ min: 1, max: 400 }), async (wanted, size) => {
        const byBlock = Map.groupBy(wanted, ({ at }) => at % blocks.length);
        const records = blocks.map((block, index) => {
          const own = byBlock.get(index);
          return recordOf(own ? damaged(block, own) : block, index);
        });
        const whole = await deriveInBatches(records, records.length);
        const batched = await deriveInBatches(records, size);
        for (const [height, facts] of whole.entries()) expect(batched[height], `block ${height}`).toEqual(facts);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  },
  30 * 60_000,
);

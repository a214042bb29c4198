import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import type { DeadLetterFact, Fact } from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { PAIRED_CHAINS, pairedBlocks } from '../../test/support/processors/chain-pair.ts';
import { damage, damaged } from '../../test/support/processors/damage.ts';
import { RECORDED_CHAIN, recordedBlocks } from '../../test/support/processors/recorded-chain.ts';
import { UnknownOutputError } from '../balances/spent-outputs.ts';
import { UnlinkedBlockError } from '../derive-block.ts';
import type { MutableChainState } from '../state/chain-state.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { type BlockLabel, deriveFaultless, deriveWithDeadLetters } from './derive-with-dead-letters.ts';
import { readableBlock, unreadable } from './readable-block.ts';

type Json = Record<string | number, unknown>;
type Path = readonly (string | number)[];

const label = ({ height, hash, previousblockhash, time }: DaemonBlock): BlockLabel => ({
  height,
  hash,
  previousHash: previousblockhash ?? null,
  time,
  size: 0,
});

const copyOf = (block: DaemonBlock): Json => parseExact(stringifyExact(block)) as Json;

/** A copy with `value` at the end of `path`. */
function broken(block: DaemonBlock, path: Path, value: unknown): unknown {
  const copy = copyOf(block);
  const parent = path.slice(0, -1).reduce((part, key) => part[key] as Json, copy);
  parent[path.at(-1) ?? ''] = value;
  return copy;
}

const letters = (facts: readonly Fact[]): DeadLetterFact[] =>
  facts.filter((fact): fact is DeadLetterFact => fact.type === 'dead_letter');

let blocks: readonly DaemonBlock[];

beforeAll(() => {
  blocks = recordedBlocks();
});

function fold(to: number): MutableChainState {
  const state = createMemoryState(RECORDED_CHAIN);
  for (const block of blocks.slice(0, to)) deriveFaultless(block, state);
  return state;
}

const at = (height: number): DaemonBlock => {
  const block = blocks[height];
  if (!block) throw new RangeError(`no block ${height}`);
  return block;
};

const around = (block: DaemonBlock, raw: unknown, state: MutableChainState, probe?: (block: DaemonBlock) => void) =>
  deriveWithDeadLetters(label(block), readableBlock(raw, label(block).previousHash), state, probe);

describe('a block without faults', () => {
  it('has the same facts and the same state with either function', () => {
    const [one, other] = [createMemoryState(RECORDED_CHAIN), createMemoryState(RECORDED_CHAIN)];
    for (const block of blocks) expect(around(block, block, other)).toEqual(deriveFaultless(block, one));
    expect(other.tip).toEqual(one.tip);
    expect([...other.currencyStates()]).toEqual([...one.currencyStates()]);
  });
});

it.each(['root', 'pchain'] as const)('the recorded %s of the pair has no faults', (side) => {
  const state = createMemoryState(PAIRED_CHAINS[side]);
  const recorded = pairedBlocks(side);
  for (const block of recorded) deriveFaultless(block, state); // throws where a dead letter would be made
  expect(state.tip?.height).toBe(recorded.length - 1);
});

describe('one bad part', () => {
  const height = 2; // any block above genesis
  const rest = (facts: readonly Fact[]) => facts.filter(({ type }) => type !== 'dead_letter');

  it('an output keeps its readable parts, and its transaction and block stay complete', () => {
    const block = at(height);
    const expected = deriveFaultless(block, fold(height));
    const facts = around(block, broken(block, ['tx', 0, 'vout', 0, 'scriptPubKey', 'type'], 7), fold(height));
    expect(letters(facts)).toEqual([
      expect.objectContaining({ scope: 'output', txid: block.tx[0]?.txid, n: 0, code: 'malformed' }),
    ]);
    expect(JSON.parse(letters(facts)[0]?.payload ?? '')).toMatchObject({ n: 0, scriptPubKey: { type: 7 } });
    const changed = rest(facts).filter((fact) => fact.type === 'output' && fact.kind === 'undecodable');
    expect(changed).toHaveLength(1);
    const ids = (list: readonly Fact[]) => list.map(({ type }) => type).sort();
    expect(ids(rest(facts))).toEqual(ids(expected));
    const balances = (list: readonly Fact[]) => list.filter(({ type }) => type === 'balance');
    expect(balances(facts)).toEqual(balances(expected));
  });

  it('a transaction has no row, and the other transactions keep their places', () => {
    const busy = blocks.findLast(({ tx }) => tx.length > 2);
    if (!busy) throw new TypeError('no block with three transactions');
    const facts = around(busy, broken(busy, ['tx', 1, 'txid'], 'x'), fold(busy.height));
    expect(letters(facts)[0]).toMatchObject({ scope: 'transaction', txid: null, n: null, code: 'malformed' });
    const rows = facts.flatMap((fact) => (fact.type === 'transaction' ? [fact.txIndex] : []));
    expect(rows).toEqual(busy.tx.map((_, index) => index).filter((index) => index !== 1));
    const [own] = facts;
    expect(own).toMatchObject({ type: 'block', txCount: busy.tx.length });
  });

  it('a block has a row with the values of the log, and the next block follows it', () => {
    const state = fold(height);
    const cause = { code: 'undecodable', message: 'SyntaxError: cut' };
    const facts = deriveWithDeadLetters({ ...label(at(height)), size: 9 }, unreadable(null, cause), state);
    expect(facts).toMatchObject([
      { type: 'block', hash: at(height).hash, time: at(height).time, size: 9, txCount: 0 },
      { type: 'dead_letter', scope: 'block', ordinal: 0, ...cause, payload: null },
    ]);
    expect(state.lostCoins).toBe(true);
    expect(around(at(height + 1), at(height + 1), state)[0]).toMatchObject({ hash: at(height + 1).hash });
  });

  it('a block that opens a window still writes the snapshots of the window before it', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    const snapshots = (facts: readonly Fact[]) => facts.filter(({ type }) => type === 'reserve_snapshot');
    let written = 0;
    for (const block of blocks) {
      const cut = unreadable(null, { code: 'undecodable', message: 'cut' });
      const facts = deriveWithDeadLetters(label(block), cut, state.overlay());
      const expected = snapshots(deriveFaultless(block, state));
      expect(snapshots(facts)).toEqual(expected);
      written += expected.length;
    }
    expect(written).toBeGreaterThan(900);
  });

  it('is found when only a processor notices it', () => {
    const { txid, vout } = blocks.flatMap(({ tx }) => tx).find(({ vout }) => vout.length > 2) ?? { txid: '', vout: [] };
    const block = blocks.find(({ tx }) => tx.some((one) => one.txid === txid)) ?? at(0);
    const n = vout.length - 2;
    const probe = ({ tx }: DaemonBlock): void => {
      const output = tx.find((one) => one.txid === txid)?.vout[n];
      if (output && output.scriptPubKey.type !== 'undecodable') throw new TypeError('not today');
    };
    const facts = around(block, block, fold(block.height), probe);
    expect(letters(facts)).toEqual([
      expect.objectContaining({ scope: 'output', txid, n, code: 'undecodable', message: 'TypeError: not today' }),
    ]);
  });

  it('an amount beyond the range of the stores is a bad part', () => {
    const block = blocks.find(({ tx }) => tx.some(({ vout }) => vout.some(hasTokens))) ?? at(0);
    const txIndex = block.tx.findIndex(({ vout }) => vout.some(hasTokens));
    const n = block.tx[txIndex]?.vout.findIndex(hasTokens) ?? -1;
    const script = block.tx[txIndex]?.vout[n]?.scriptPubKey.reserveoutput as { currencyvalues: object };
    const [currencyId = ''] = Object.keys(script.currencyvalues);
    const path = ['tx', txIndex, 'vout', n, 'scriptPubKey', 'reserveoutput', 'currencyvalues', currencyId];
    const raw = broken(block, path, 99_999_999_999_999);
    expect(letters(around(block, raw, fold(block.height)))).toEqual([
      expect.objectContaining({ scope: 'output', n, code: 'unstorable' }),
    ]);
  });
});

const hasTokens = (output: DaemonBlock['tx'][number]['vout'][number]): boolean =>
  'reserveoutput' in output.scriptPubKey;

it('an object that the daemon itself could not decode causes a dead letter where a block refers to it', () => {
  const state = createMemoryState(RECORDED_CHAIN);
  let invalid = 0;
  const found = blocks.flatMap((block) => {
    const copy = copyOf(block) as unknown as { tx: { vout: { scriptPubKey: Json }[] }[] };
    for (const { scriptPubKey } of copy.tx.flatMap(({ vout }) => vout)) {
      if (!scriptPubKey.reservetransfer || invalid === 3) continue;
      scriptPubKey.reservetransfer = 'invalid';
      invalid++;
    }
    return letters(around(block, copy, state));
  });
  expect(invalid).toBe(3);
  expect(found.length).toBeGreaterThan(0);
  expect(new Set(found.map(({ code }) => code))).toEqual(new Set(['unknown_transfer']));
});

describe('an error that is not the fault of the block', () => {
  it('is thrown: a block in the wrong place, an unknown coin although no coins were lost', () => {
    expect(() => around(at(5), at(5), fold(3))).toThrow(UnlinkedBlockError);
    const unreadable5 = { block: null, raw: null, faults: [], cause: { code: 'malformed', message: '' } };
    expect(() => deriveWithDeadLetters(label(at(5)), unreadable5, fold(3))).toThrow(UnlinkedBlockError);
    const spender = blocks.find(({ tx }) => tx.some(({ vin }) => vin.some(({ txid }) => txid !== undefined)));
    if (!spender) throw new TypeError('no recorded block spends an output');
    const empty = createMemoryState(RECORDED_CHAIN);
    empty.setTip({ height: spender.height - 1, hash: spender.previousblockhash ?? '', time: 0, clock: 0 });
    expect(() => around(spender, spender, empty)).toThrow(UnknownOutputError);
  });
});

it('the recorded chain with damaged parts is derived to its end, with dead letters for them', {
  timeout: 600_000,
}, () => {
  let found = 0;
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 40 }), (damages) => {
      const byBlock = Map.groupBy(damages, (one) => one.at % blocks.length);
      const state = createMemoryState(RECORDED_CHAIN);
      for (const block of blocks) {
        const own = byBlock.get(block.height);
        const facts = around(block, own ? damaged(block, own) : block, state);
        expect(facts[0]).toMatchObject({ type: 'block', hash: block.hash });
        if (own) found += letters(facts).length;
      }
      expect(state.tip).toMatchObject({ height: blocks.length - 1, hash: at(blocks.length - 1).hash });
    }),
    { numRuns: Number(process.env.LAWS_RUNS ?? 6) },
  );
  expect(found).toBeGreaterThan(0);
});

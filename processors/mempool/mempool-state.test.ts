/** Whatever happens to transactions, the waiting ones are those of the daemon, and each change is published once. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { MempoolChange, UnconfirmedOutcome } from '../../schemas/mempool.ts';
import {
  createDaemonDouble,
  createIndexDouble,
  keysOf,
  unconfirmed,
} from '../../test/support/processors/mempool/doubles.ts';
import { EMPTY_MEMPOOL, type MempoolState, reconcile } from './mempool-state.ts';

const small = fc.nat({ max: 7 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('arrive'),
      spends: fc.array(small, { maxLength: 3, minLength: 1 }),
      expiresIn: fc.nat({ max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('mine'), count: fc.nat({ max: 4 }), rival: fc.option(small) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reorganise'),
      depth: fc.integer({ min: 1, max: 4 }),
      blocks: small,
      each: fc.nat({ max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('daemon restarts') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('service restarts') }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('index follows'), times: fc.nat({ max: 4 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const moves = fc.array(step, { maxLength: 4 });
/** Moves, then a look; the daemon and the index also move between the queries of the look. */
const turn = fc.record({ before: fc.array(step, { maxLength: 6 }), afterList: moves, afterTip: moves });

function createWorld() {
  const daemon = createDaemonDouble();
  const index = createIndexDouble();
  let state: MempoolState = EMPTY_MEMPOOL;
  /** The transactions of a client that applies each change. */
  let held = new Set<string>();
  const reasons = new Map<UnconfirmedOutcome['reason'], number>();
  const known = new Map<string, ReturnType<typeof unconfirmed>>();

  function move(one: Step): void {
    if (one.kind === 'arrive') {
      const choose = (outputs: readonly string[]) => one.spends.flatMap((at) => outputs[outputs.length - 1 - at] ?? []);
      daemon.arrive((outputs) => [...new Set(choose(outputs))], one.expiresIn);
    } else if (one.kind === 'mine') daemon.mine(one.count, one.rival);
    else if (one.kind === 'reorganise') daemon.reorganise(one.depth, one.blocks, one.each);
    else if (one.kind === 'daemon restarts') daemon.restart();
    else if (one.kind === 'index follows') for (let times = 0; times < one.times; times += 1) index.follow(daemon);
    else {
      state = EMPTY_MEMPOOL;
      held = new Set();
    }
  }

  function look(afterList: readonly Step[], afterTip: readonly Step[]): void {
    const listed = new Map(daemon.mempool);
    const minedThen = new Set(daemon.blocks.flatMap(({ transactions }) => transactions.map(({ txid }) => txid)));
    const branch = daemon.reorganisations;
    // The service does not restart within a look.
    for (const one of afterList) if (one.kind !== 'service restarts') move(one);
    const daemonTip = daemon.blocks.at(-1)?.hash ?? '';
    for (const one of afterTip) if (one.kind !== 'service restarts') move(one);
    const arrived = [...listed.values()].filter(({ txid }) => !state.waiting.has(txid)).map(unconfirmed);
    for (const one of arrived) known.set(one.txid, one);
    const missing = [...state.waiting.values()].filter(({ txid }) => !listed.has(txid));
    const seen = index.see({
      txids: [...state.waiting.keys(), ...arrived.map(({ txid }) => txid)],
      outpoints: missing.flatMap(keysOf),
      hashes: [...state.leaving.values()].map(({ awaited }) => awaited),
    });
    const next = reconcile(state, {
      listed: new Set(listed.keys()),
      leftOut: new Set(),
      arrived,
      daemonTip,
      index: seen,
    });
    for (const change of next.changes) {
      apply(change);
      const wasMined = minedThen.has(change.transaction.txid) && branch === daemon.reorganisations;
      if (change.kind === 'gone' && wasMined) expect(change.outcome.reason).toBe('mined');
      if (change.kind === 'gone') expectTrue(change.outcome, change.transaction.txid);
    }
    state = next.state;
    expect(held).toEqual(new Set(state.waiting.keys()));
    for (const txid of held) expect(seen.mined.has(txid)).toBe(false);
  }

  function apply(change: MempoolChange): void {
    const { txid } = change.transaction;
    if (change.kind === 'waits') {
      expect(held.has(txid)).toBe(false);
      held.add(txid);
    } else {
      expect(held.delete(txid)).toBe(true);
      reasons.set(change.outcome.reason, (reasons.get(change.outcome.reason) ?? 0) + 1);
    }
  }

  function expectTrue(outcome: UnconfirmedOutcome, txid: string): void {
    if (outcome.reason === 'mined' || outcome.reason === 'conflicting') {
      const block = index.blocks[outcome.height];
      expect(block?.hash).toBe(outcome.hash);
      const holder = outcome.reason === 'mined' ? txid : outcome.txid;
      expect(block?.transactions.some((one) => one.txid === holder)).toBe(true);
    }
    if (outcome.reason === 'expired') {
      const ancestors = lineOf(txid);
      expect(ancestors.some(({ expiryHeight }) => expiryHeight > 0 && index.blocks.length > expiryHeight)).toBe(true);
    }
  }

  /** The transaction and the waiting ones that it builds on. */
  function lineOf(txid: string): ReturnType<typeof unconfirmed>[] {
    const own = known.get(txid);
    return own ? [own, ...own.inputs.flatMap((input) => lineOf(input.txid))] : [];
  }

  /** Lets the index reach the daemon's block while nothing else moves. */
  function settle(): void {
    const isThere = () =>
      index.blocks.length === daemon.blocks.length && index.blocks.at(-1)?.hash === daemon.blocks.at(-1)?.hash;
    while (!isThere()) index.follow(daemon);
    look([], []);
    expect([...held].sort()).toEqual([...daemon.mempool.keys()].sort());
  }

  return { move, look, settle, reasons };
}

it('equals the daemon’s mempool and publishes each arrival and each departure once, with the right reason', () => {
  const all = new Map<string, number>();
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 25 }), (turns) => {
      const world = createWorld();
      for (const { before, afterList, afterTip } of turns) {
        before.forEach(world.move);
        world.look(afterList, afterTip);
      }
      world.settle();
      for (const [reason, count] of world.reasons) all.set(reason, (all.get(reason) ?? 0) + count);
    }),
    { numRuns: 500 },
  );
  // Every reason has occurred.
  expect([...all.keys()].sort()).toEqual(['conflicting', 'dropped', 'expired', 'mined', 'replaced']);
});

it('reports the outcome even if the awaited block was abandoned and the index never reaches the daemon’s tip', () => {
  const tx = unconfirmed({ txid: 'a'.repeat(64), spends: [`${'b'.repeat(64)}:0`], expiryHeight: 0 });
  const look = (looks: number) => ({
    listed: new Set<string>(),
    leftOut: new Set<string>(),
    arrived: [],
    daemonTip: `tip ${looks}`,
    index: { tip: { height: looks, hash: `tip ${looks - 1}` }, mined: new Map(), spenders: new Map() },
  });
  let state: MempoolState = { waiting: new Map([[tx.txid, tx]]), leaving: new Map() };
  let looks = 0;
  for (; state.waiting.size > 0 && looks < 20; looks += 1) {
    // The first of the daemon's tips was abandoned.
    const reached = new Set(Array.from({ length: looks }, (_, at) => `tip ${at}`).filter((_, at) => at > 0));
    const seen = look(looks);
    state = reconcile(state, { ...seen, index: { ...seen.index, reached } }).state;
  }
  expect(looks).toBeLessThan(10);
});

/**
 * Derives a block some of whose parts cannot be decoded. Bisects for the first transaction that fails, then for the first output in it
 * that fails, and makes that part a dead letter. Processors need not handle dead letters.
 */

import { isHash } from '../../domain/hashes.ts';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { BlockFact, DeadLetterFact, DeadLetterScope, Fact } from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { UnknownOutputError } from '../balances/spent-outputs.ts';
import { deriveReserveSnapshots } from '../currencies/reserve-snapshots.ts';
import { asObject } from '../decoding/decoded-object.ts';
import { deriveBlock, UnlinkedBlockError } from '../derive-block.ts';
import { losesCoins, type MutableChainState } from '../state/chain-state.ts';
import type { ReadableBlock } from './readable-block.ts';
import { type BlockFault, causeOf, type FaultCause, withoutFaultyParts } from './redact.ts';
import { validateFacts } from './validate-facts.ts';

/** Label of a block, from the log's record. */
export interface BlockLabel {
  readonly height: number;
  readonly hash: string;
  readonly previousHash: string | null;
  /** Seconds since the epoch. */
  readonly time: number;
  /** Bytes of its text. */
  readonly size: number;
}

/** For tests: its errors count as errors of a processor. */
export type Probe = (block: DaemonBlock) => void;

/** A transaction or a block with more faults than this is withheld as a whole: finding each fault takes several derivations. */
const MOST_OUTPUTS = 8;
const MOST_FAULTS = 64;
/** Longest stored payload, in characters; the log has the longer ones. */
const LONGEST_PAYLOAD = 1 << 16;
const LONGEST_MESSAGE = 500;

/** Like deriveBlock, and validates the facts. @throws errors of a processor, after which `state` is unusable */
export function deriveFaultless(block: DaemonBlock, state: MutableChainState, probe?: Probe): Fact[] {
  probe?.(block);
  const facts = deriveBlock(block, state);
  validateFacts(facts);
  return facts;
}

/**
 * Returns the facts of the parts that can be decoded, and a dead letter for each part that cannot. Afterwards `state` is the state
 * right after the block. @throws errors that are not the block's fault: UnlinkedBlockError, and UnknownOutputError when no coins were
 * lost before, because then the state must be wrong
 */
export function deriveWithDeadLetters(
  label: BlockLabel,
  { block, raw, faults: given, cause }: ReadableBlock,
  state: MutableChainState,
  probe?: Probe,
): Fact[] {
  if (!block) return deadBlock(label, state, cause ?? causeOf(null));
  let faults = given;
  for (;;) {
    const tried = attempt(block, faults, state, probe);
    if (tried.facts) {
      const facts = [...tried.facts, ...deadLetters(raw, [...faults, ...tried.lostInputs])];
      state.apply(label.height, facts);
      state.setTip(tried.state.tip);
      return facts;
    }
    const { error } = tried;
    if (error instanceof UnlinkedBlockError || error instanceof UnknownOutputError) throw error;
    const found = faults.length < MOST_FAULTS ? blame(block, faults, state, probe) : null;
    if (!found) return deadBlock(label, state, causeOf(error));
    faults = withFault(faults, found);
  }
}

interface Attempt {
  readonly state: MutableChainState;
  readonly lostInputs: readonly BlockFault[];
  /** Null when it threw. */
  readonly facts: Fact[] | null;
  readonly error: unknown;
}

function attempt(block: DaemonBlock, faults: readonly BlockFault[], base: MutableChainState, probe?: Probe): Attempt {
  const state = base.overlay();
  const lostCoins = base.lostCoins || faults.some(({ scope }) => losesCoins(scope));
  const readable = withoutFaultyParts(block, faults);
  const lostInputs = lostCoins ? unknownInputs(readable, base) : [];
  const withheld = new Set(faults.filter(({ scope }) => scope === 'transaction').map(({ txIndex }) => txIndex));
  try {
    const facts = deriveFaultless(withoutFaultyParts(readable, lostInputs), state, probe);
    // A withheld transaction keeps its place in the block, but has no row.
    const kept = facts.filter((fact) => fact.type !== 'transaction' || !withheld.has(fact.txIndex));
    return { state, lostInputs, facts: kept, error: null };
  } catch (error) {
    return { state, lostInputs, facts: null, error };
  }
}

/** Inputs whose coins are unknown, because they were made in a block or transaction that was lost. */
function unknownInputs(block: DaemonBlock, state: MutableChainState): BlockFault[] {
  const made = new Map(block.tx.map(({ txid, vout }) => [txid, vout.length]));
  return block.tx.flatMap((tx, txIndex) =>
    tx.vin.flatMap(({ txid, vout }, n): BlockFault[] => {
      if (txid === undefined || vout === undefined) return [];
      if (vout < (made.get(txid) ?? 0) || state.output(txid, vout)) return [];
      const message = `spends ${txid}:${vout}, which was not derived: it is part of an earlier dead letter of this chain`;
      return [{ scope: 'input', txIndex, n, code: 'unknown_output', message }];
    }),
  );
}

/** Finds the first part at which derivation fails; null when it fails even without transactions, or still with that part hidden. */
function blame(
  block: DaemonBlock,
  faults: readonly BlockFault[],
  state: MutableChainState,
  probe?: Probe,
): BlockFault | null {
  const ofFirst = (count: number, hidden: readonly BlockFault[] = []): Attempt => {
    const visible = faults.filter(({ txIndex }) => txIndex < count);
    return attempt({ ...block, tx: block.tx.slice(0, count) }, [...visible, ...hidden], state, probe);
  };
  const first = firstFailing(block.tx.length, (count) => ofFirst(count));
  if (!first) return null;
  const txIndex = first.count - 1;
  const transactionFault: BlockFault = { scope: 'transaction', txIndex, n: null, ...causeOf(first.error) };
  const own = faults.filter((fault) => fault.txIndex === txIndex);
  if (own.some(({ scope }) => scope === 'transaction')) return null;
  if (own.length >= MOST_OUTPUTS) return transactionFault;

  const outputs = block.tx[txIndex]?.vout ?? [];
  const output = firstFailing(outputs.length, (count) =>
    ofFirst(
      first.count,
      outputs.slice(count).map((_, index) => ({ ...transactionFault, scope: 'output', n: count + index })),
    ),
  );
  if (!output || own.some(({ scope, n }) => scope === 'output' && n === output.count - 1)) return transactionFault;
  return { ...transactionFault, scope: 'output', n: output.count - 1, ...causeOf(output.error) };
}

interface Failing {
  readonly count: number;
  readonly error: unknown;
}

/** Finds a number from 1 to `most` that fails although the number before it succeeds; null when 0 fails. `most` is known to fail. */
function firstFailing(most: number, of: (count: number) => Attempt): Failing | null {
  if (!of(0).facts) return null;
  let good = 0;
  let bad = most;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (of(middle).facts) good = middle;
    else bad = middle;
  }
  const { facts, error } = of(bad);
  return facts ? null : { count: bad, error };
}

function withFault(faults: readonly BlockFault[], found: BlockFault): readonly BlockFault[] {
  const others = faults.filter(({ txIndex }) => found.scope !== 'transaction' || txIndex !== found.txIndex);
  return [...others, found];
}

/** Returns a row with the members of the log's record, so that the chain can continue after the block, and closes the window before it. */
function deadBlock(label: BlockLabel, state: MutableChainState, cause: FaultCause): Fact[] {
  const { tip } = state;
  if (tip && (label.height !== tip.height + 1 || label.previousHash !== tip.hash)) {
    throw new UnlinkedBlockError(label, state.chain.name, tip);
  }
  const { height, hash, time } = label;
  const clock = Math.max(time, tip?.clock ?? time);
  const block: BlockFact = {
    type: 'block',
    hash,
    previousHash: label.previousHash,
    time,
    clock,
    size: label.size,
    txCount: 0,
    validationType: 'work',
    difficulty: '0',
    bits: '',
    nonce: '',
    version: 0,
    merkleRoot: '',
    chainWork: '',
    chainStake: '',
    reward: 0n,
    minerAddress: null,
    fees: 0n,
    feePool: null,
    transparentChange: 0n,
    shieldedSupply: null,
    stake: null,
  };
  const snapshots = deriveReserveSnapshots({ clock }, state);
  const facts = [block, ...snapshots, deadLetter({ ordinal: 0, scope: 'block', txid: null, n: null }, cause, null)];
  state.apply(height, facts);
  state.setTip({ height, hash, time, clock });
  return facts;
}

const SCOPES: readonly DeadLetterScope[] = ['transaction', 'input', 'output'];

function deadLetters(raw: unknown, faults: readonly BlockFault[]): DeadLetterFact[] {
  const place = ({ scope, n }: BlockFault): number => SCOPES.indexOf(scope) * 2 ** 32 + (n ?? 0);
  const sorted = faults.toSorted((a, b) => a.txIndex - b.txIndex || place(a) - place(b));
  return sorted.map((fault, ordinal) => {
    const tx = listOf(asObject(raw)?.tx)[fault.txIndex];
    const { txid, vin, vout } = asObject(tx) ?? {};
    const part = fault.scope === 'transaction' ? tx : listOf(fault.scope === 'input' ? vin : vout)[fault.n ?? -1];
    return deadLetter({ ordinal, scope: fault.scope, txid: isHash(txid) ? txid : null, n: fault.n }, fault, part);
  });
}

function deadLetter(
  place: Pick<DeadLetterFact, 'ordinal' | 'scope' | 'txid' | 'n'>,
  { code, message }: FaultCause,
  part: unknown,
): DeadLetterFact {
  const text = part === null || part === undefined ? null : stringifyExact(part);
  return {
    type: 'dead_letter',
    ...place,
    code,
    message: message.replaceAll('\0', '\\0').slice(0, LONGEST_MESSAGE),
    payload: text !== null && text.length <= LONGEST_PAYLOAD ? text : null,
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

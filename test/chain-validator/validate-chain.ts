/**
 * Checks whether a chain could come from the daemon: its shape, its links, its coins, its reserves, its names, and that every
 * transfer finds its payout. The recording passes, and generated chains must pass.
 */

import { parseExact } from '../../domain/json/exact-json.ts';
import { nameToAddress } from '../../domain/names.ts';
import { deriveBlock } from '../../processors/derive-block.ts';
import type { ChainContext } from '../../processors/state/chain-state.ts';
import { createMemoryState } from '../../processors/state/memory-state.ts';
import type { CurrencyStateFact, Fact } from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { NATIVE, NETWORK_ROOT } from '../generator/addresses.ts';
import { GENESIS_REWARD, premineOf, SUBSIDY } from '../generator/rewards.ts';
import { blockShape } from './block-shapes.ts';
import { type CoinLedger, createLedger, type LedgerOptions } from './ledger.ts';
import type { ReportFault } from './shape.ts';

export interface ValidatorOptions extends Pick<LedgerOptions, 'subsidy'> {
  readonly chain: ChainContext;
}

export interface ChainValidator {
  /** The next block, as text. */
  block(text: string): void;
  /** Faults found so far, in order. */
  readonly faults: readonly string[];
  /** Number of facts of each type that the processors derived. */
  readonly facts: ReadonlyMap<string, number>;
}

/** Options for generated chains, and for the private network and the root of the pair. */
export const GENERATED_CHAIN: ValidatorOptions = {
  chain: { name: 'generated', nativeCurrencyId: NATIVE, networkRoot: NETWORK_ROOT },
  subsidy: (height) => (height === 0 ? GENESIS_REWARD : SUBSIDY + premineOf(height)),
};

const LAUNCH_COMPLETE = 0x20;
const REFUNDING = 0x4;

export function createChainValidator({ chain, subsidy }: ValidatorOptions): ChainValidator {
  const faults: string[] = [];
  const fault: ReportFault = (path, problem) => faults.push(`${path}: ${problem}`);
  const state = createMemoryState(chain);
  const ledger = createLedger({ native: chain.nativeCurrencyId, subsidy });
  const facts = new Map<string, number>();
  /** By launched currency: tokens that the launch rounded away. */
  const lost = new Map<string, bigint>();
  let tip: DaemonBlock | null = null;

  return {
    faults,
    facts,
    block(text) {
      const block = parseExact(text) as DaemonBlock;
      blockShape(block, `block ${block.height}`, fault);
      if (tip && (block.height !== tip.height + 1 || block.previousblockhash !== tip.hash)) {
        fault(`block ${block.height}`, `does not follow ${tip.height} ${tip.hash}`);
      }
      tip = block;
      ledger.book(block, fault);
      for (const fact of deriveBlock(block, state)) {
        const kind = labelOf(fact);
        facts.set(kind, (facts.get(kind) ?? 0) + 1);
        checkFact(fact, chain, (problem) => fault(`block ${block.height}`, problem));
      }
      for (const current of state.currencyStates()) {
        checkCurrency(current, ledger, lost, (problem) => fault(`block ${block.height}`, problem));
      }
    },
  };
}

function labelOf(fact: Fact): string {
  if (fact.type === 'identity') return `identity ${fact.kind}`;
  if (fact.type === 'transfer') return `transfer ${fact.kind} ${fact.status}`;
  return fact.type === 'currency' ? `currency ${fact.currencyType}` : fact.type;
}

function checkFact(fact: Fact, { networkRoot }: ChainContext, fault: (problem: string) => void): void {
  if (fact.type === 'transfer' && fact.status === 'unmatched') fault(`${fact.txid}:${fact.vout} ${fact.reason}`);
  if (fact.type === 'dead_letter') fault(`${fact.code} ${fact.message}`);
  const isTopLevel = fact.type === 'identity' && fact.parent === nameToAddress(networkRoot, networkRoot);
  if (isTopLevel && nameToAddress(fact.name, networkRoot) !== fact.identityAddress) {
    fault(`${fact.identityAddress} is not the address of ${JSON.stringify(fact.name)}`);
  }
}

function checkCurrency(
  { currencyId, flags, supply, reserves }: CurrencyStateFact,
  ledger: CoinLedger,
  lost: Map<string, bigint>,
  fault: (problem: string) => void,
): void {
  if (!(flags & LAUNCH_COMPLETE) || flags & REFUNDING) return;
  for (const { currencyId: reserveId, reserves: amount } of reserves) {
    const deposited = ledger.deposited(currencyId, reserveId);
    if (deposited !== amount)
      fault(`${currencyId} has ${deposited} of ${reserveId} in deposits, ${amount} in reserves`);
  }
  const missing = supply - ledger.unspent(currencyId);
  const before = lost.get(currencyId) ?? missing;
  lost.set(currencyId, before);
  if (missing < 0n || missing !== before) fault(`${currencyId}: supply is ${missing} above its outputs, was ${before}`);
}

/** Chains made from a busy section of the recording: compacted, with changed clocks, and with differing branches. */

import { coinsToSatoshis, satoshisToCoins } from '../../../../domain/satoshi.ts';
import type { BlockFact, Fact } from '../../../../schemas/facts.ts';
import type { FedBlock } from './facts-feed.ts';

/** The section from `first` to `last`; its first block also contains the newest definitions and states from before the section. */
export function compactChain(blocks: readonly FedBlock[], first: number, last: number): FedBlock[] {
  const newest = new Map<string, Fact>();
  for (const { facts } of blocks.slice(0, first)) {
    for (const fact of facts) {
      if (fact.type === 'currency' || fact.type === 'currency_state')
        newest.set(`${fact.type} ${fact.currencyId}`, fact);
    }
  }
  return blocks.slice(first, last + 1).map((block, index) => {
    return index === 0 ? { ...block, facts: [...block.facts, ...newest.values()] } : block;
  });
}

/** The same blocks at other times; each clock is the running maximum of the times. */
export function retimed(blocks: readonly FedBlock[], timeOf: (block: BlockFact, height: number) => number): FedBlock[] {
  let clock = 0;
  return blocks.map((block) => {
    let time = 0;
    for (const fact of block.facts) if (fact.type === 'block') time = timeOf(fact, block.height);
    clock = Math.max(clock, time);
    return withFacts(block, (fact) => {
      if (fact.type === 'block') return { ...fact, time, clock };
      if (fact.type === 'transfer' && fact.importHeight === block.height) return { ...fact, importTime: time };
      return fact;
    });
  });
}

/** The same blocks with a currency whose price is 20 times higher from `first` to `last`, outside every price bound. */
export function distorted(blocks: readonly FedBlock[], currencyId: string, first: number, last: number): FedBlock[] {
  return blocks.map((block) => {
    if (block.height < first || block.height > last) return block;
    return withFacts(block, (fact) => {
      if (fact.type !== 'currency_state') return fact;
      const reserves = fact.reserves.map((reserve) => {
        return reserve.currencyId === currencyId ? { ...reserve, reserves: reserve.reserves / 20n } : reserve;
      });
      return { ...fact, reserves };
    });
  });
}

/** An import at block `height` that leaves conversions unpaid. */
export interface Unpaid {
  readonly height: number;
  /** Its prices in percent of the recorded ones. */
  readonly pricesTo: bigint;
}

/** The same blocks, in which `imports` pay no conversion between two currencies that are not `truths`. */
export function withoutPayouts(
  blocks: readonly FedBlock[],
  imports: readonly Unpaid[],
  truths: ReadonlySet<string>,
): FedBlock[] {
  const pricesTo = new Map(imports.map((unpaid) => [unpaid.height, unpaid.pricesTo]));
  return blocks.map((block) => {
    const hundredths = pricesTo.get(block.height);
    if (hundredths === undefined) return block;
    return withFacts(block, (fact) => {
      if (fact.type === 'currency_state') return { ...fact, state: repriced(fact.state, hundredths) };
      if (fact.type !== 'transfer' || fact.status !== 'completed' || fact.importHeight !== block.height) return fact;
      if (fact.kind === 'send' || truths.has(fact.fromCurrencyId ?? '') || truths.has(fact.toCurrencyId)) return fact;
      return { ...fact, status: 'unmatched', amountOut: null, payoutVout: null, reason: 'no output pays it' };
    });
  });
}

function repriced(state: string, hundredths: bigint): string {
  return state.replace(/"(last|via)conversionprice":([\d.eE+-]+)/g, (_, which: string, coins: string) => {
    return `"${which}conversionprice":${satoshisToCoins((coinsToSatoshis(coins) * hundredths) / 100n)}`;
  });
}

/** Another branch with other hashes, times, states and payouts. The clock of its first block is not below `clock`. */
export function otherBranch(blocks: readonly FedBlock[], salt: number, clock: number): FedBlock[] {
  const changed = blocks.map((block) => ({
    ...withFacts(block, (fact) => altered(fact, BigInt(salt), saltedHash(block.hash, salt))),
    hash: saltedHash(block.hash, salt),
  }));
  return retimed(changed, ({ time }) => Math.max(clock, time + (((salt * 7) % 11) - 3) * 3600));
}

function altered(fact: Fact, salt: bigint, hash: string): Fact {
  if (fact.type === 'block') return { ...fact, hash };
  if (fact.type === 'currency_state') {
    const reserves = fact.reserves.map((reserve) => ({
      ...reserve,
      reserves: (reserve.reserves * (100n + salt)) / 97n,
    }));
    return { ...fact, supply: (fact.supply * 101n) / (100n + salt), reserves };
  }
  if (fact.type === 'transfer' && fact.amountOut) return { ...fact, amountOut: fact.amountOut + salt };
  return fact;
}

function saltedHash(hash: string, salt: number): string {
  return `${hash.slice(0, -4)}${(salt % 65_536).toString(16).padStart(4, '0')}`;
}

function withFacts(block: FedBlock, change: (fact: Fact) => Fact): FedBlock {
  return { ...block, facts: block.facts.map(change) };
}

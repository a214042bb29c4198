/** What each address that a block touched holds after it, by currency. */
import type { ActivityFact, BalanceFact } from '../schemas/facts.ts';
import type { BalanceState, ChainState } from './chain-state.ts';

/** `activity` is the block's, `state` the balances before it. Only what changed, in order of first change. */
export function deriveBalances(activity: readonly ActivityFact[], state: ChainState): BalanceFact[] {
  const touched = new Map<string, Map<string, BalanceState>>();
  const book = (address: string, currencyId: string, received: bigint, sent: bigint): void => {
    if (received === 0n && sent === 0n) return;
    let held = touched.get(address);
    if (!held) {
      held = new Map();
      touched.set(address, held);
    }
    const before = held.get(currencyId) ?? state.balance(address, currencyId) ?? { balance: 0n, received: 0n };
    held.set(currencyId, { balance: before.balance + received - sent, received: before.received + received });
  };
  for (const { address, received, sent, currencies } of activity) {
    book(address, state.chain.nativeCurrencyId, received, sent);
    for (const [currencyId, flow] of Object.entries(currencies)) book(address, currencyId, flow.received, flow.sent);
  }
  return [...touched].flatMap(([address, held]) =>
    Array.from(held, ([currencyId, after]) => ({ type: 'balance' as const, address, currencyId, ...after })),
  );
}

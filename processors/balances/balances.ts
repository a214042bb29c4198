/** Balances, by currency, of each address that a block touched. */
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { ActivityFact, BalanceFact } from '../../schemas/facts.ts';
import type { ChainState } from '../state/chain-state.ts';

type Touched = { -readonly [field in keyof BalanceFact]: BalanceFact[field] };
const NOTHING: Pick<BalanceFact, 'balance' | 'received'> = { balance: 0n, received: 0n };

/** `activity` is that of the block, `state` has the balances before it. Returns changed balances only, in order of first change. */
export function deriveBalances(activity: readonly ActivityFact[], state: ChainState): BalanceFact[] {
  const touched = new Map<string, Touched[]>();
  const book = (address: string, currencyId: string, received: bigint, sent: bigint): void => {
    if (received === 0n && sent === 0n) return;
    const held = getOrInsert(touched, address, () => []);
    let account = held.find((candidate) => candidate.currencyId === currencyId);
    if (!account) {
      const before = state.balance(address, currencyId) ?? NOTHING;
      account = { type: 'balance', address, currencyId, balance: before.balance, received: before.received };
      held.push(account);
    }
    account.balance += received - sent;
    account.received += received;
  };
  for (const { address, received, sent, currencies } of activity) {
    book(address, state.chain.nativeCurrencyId, received, sent);
    for (const [currencyId, flow] of Object.entries(currencies)) book(address, currencyId, flow.received, flow.sent);
  }
  return [...touched.values()].flat();
}

/** Registration of a name: its commitment, its referrer, its price. */
import type { CurrencyAmounts } from '../../schemas/facts.ts';
import type { DaemonTransaction } from '../../schemas/verusd/block.ts';
import { spentOutputs } from '../balances/spent-outputs.ts';
import { transactionSurplus } from '../blocks/transactions.ts';
import { asText, decodedObject } from '../decoding/decoded-object.ts';
import type { ChainState } from '../state/chain-state.ts';

export interface IdentityRegistration {
  /** i-address of the referrer; null without one. */
  readonly referral: string | null;
  readonly commitmentTxid: string | null;
  /** Amounts paid to the parent, the referrers and the miners, including the transaction's fee; the native coin under its id. */
  readonly cost: CurrencyAmounts;
}

/** i-address → registration, of the names that the transaction reserves. */
export function registrationsOf(tx: DaemonTransaction, state: ChainState): ReadonlyMap<string, IdentityRegistration> {
  const registrations = new Map<string, IdentityRegistration>();
  for (const { n, scriptPubKey } of tx.vout) {
    const reservation = decodedObject(scriptPubKey, 'identityreservation');
    const nameId = asText(reservation?.nameid);
    if (nameId === undefined) continue;
    registrations.set(nameId, {
      referral: asText(reservation?.referral) || null,
      commitmentTxid: spentOutputs(tx, state).find(({ kind }) => kind === 'commitmenthash')?.txid ?? null,
      cost: costUpTo(n, tx, state),
    });
  }
  return registrations;
}

/** Outputs between the identity and its reservation pay for it; the rest of the inputs goes to the miners. */
function costUpTo(reservation: number, tx: DaemonTransaction, state: ChainState): CurrencyAmounts {
  const { nativeCurrencyId } = state.chain;
  const cost: Record<string, bigint> = {};
  const add = (currencyId: string, amount: bigint): void => {
    if (amount !== 0n) cost[currencyId] = (cost[currencyId] ?? 0n) + amount;
  };
  add(nativeCurrencyId, transactionSurplus(tx, state));
  for (const { n } of tx.vout) {
    const output = n < reservation ? state.output(tx.txid, n) : undefined;
    if (!output || output.kind === 'identityprimary') continue;
    add(nativeCurrencyId, output.value);
    for (const [currencyId, amount] of Object.entries(output.currencies)) add(currencyId, amount);
  }
  return cost;
}

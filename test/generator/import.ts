/** Imports, which execute the transfers that an export gathered. */
import { keyAddress, NATIVE } from './addresses.ts';
import type { ClearingPayout } from './clearing.ts';
import type { Coin } from './coins.ts';
import type { Currency, Reserve } from './currency.ts';
import { importObject, notarizationObject, type StateParts } from './currency-state.ts';
import { depositScript } from './export.ts';
import { leafName } from './funds.ts';
import { controlScript, payKey, payTo, payTokens } from './scripts.ts';
import { openDraft } from './transaction.ts';
import type { PendingTransfer } from './transfer-request.ts';
import type { World } from './world.ts';

export interface ImportPlan {
  readonly flags: number;
  /** The export that it executes. */
  readonly source: { readonly txid: string; readonly vout: number; readonly height: number };
  readonly payouts: readonly ClearingPayout[];
  /** Native coins that are not payouts of transfers: part goes to producers, the rest to the fee pool. */
  readonly fees: bigint;
  readonly state: StateParts;
  readonly reserves: readonly Reserve[];
  readonly spendsFinalize: boolean;
  /** Whether all deposits are spent, and split by currency. */
  readonly splitsDeposits?: boolean;
}

export const POST_LAUNCH = 4;
export const SAME_CHAIN = 8;
export const INITIAL_LAUNCH = 2;

/** A tenth for the producer of the export, and a tenth for that of the import. */
const PRODUCER_SHARE = 10n;

export function includeImport(world: World, currency: Currency, plan: ImportPlan): void {
  const { journal, random } = world;
  const { payouts, fees, state } = plan;
  const draft = openDraft(world);
  draft.spend(currency.importCoin);
  draft.spend(currency.notarizationCoin);
  if (plan.spendsFinalize && currency.finalizeCoin) draft.spend(currency.finalizeCoin);
  const spent = depositsToSpend(currency, plan);
  for (const coin of spent) draft.spend(coin);

  const left = totals(spent);
  const valueIn = new Map(left);
  const share = plan.splitsDeposits ? 0n : fees / PRODUCER_SHARE;
  const producers = share > 0n ? [share, share] : [];
  const script = importObject(currency.id, plan.flags, plan.source, valueIn, payouts.length + producers.length);
  const imported = draft.hold(0n, controlScript('crosschainimport', script, currency.id));
  const object = notarizationObject(currency, currency.notarizationCoin, state);
  const notarized = draft.hold(0n, controlScript('acceptednotarization', object, currency.id));
  for (const { to, currencyId, amount } of payouts) {
    if (currencyId === NATIVE) draft.pay(amount, payTo(to));
    else {
      const tokens = new Map([[currencyId, amount]]);
      draft.pay(
        0n,
        payTokens([to], tokens, (id) => leafName(world, id)),
        tokens,
      );
    }
    if (currencyId !== currency.id) left.set(currencyId, (left.get(currencyId) ?? 0n) - amount);
  }
  for (const reward of producers) draft.pay(reward, payKey(keyAddress(random.below(world.addresses))));
  left.set(NATIVE, (left.get(NATIVE) ?? 0n) - fees);
  const deposits: Coin[] = [];
  for (const [id, amount] of left) {
    // The currency's own tokens are destroyed when they return.
    if (amount === 0n || id === currency.id) continue;
    const tokens = new Map(id === NATIVE ? [] : [[id, amount]]);
    const value = id === NATIVE ? amount : 0n;
    deposits.push(draft.hold(value, depositScript(world, currency.id, value, tokens), tokens));
  }
  const apply = (): void => {
    journal.set(currency, 'importCoin', imported);
    journal.set(currency, 'notarizationCoin', notarized);
    if (plan.spendsFinalize) journal.set(currency, 'finalizeCoin', null);
    journal.set(currency, 'deposits', [...currency.deposits.filter((coin) => !spent.includes(coin)), ...deposits]);
    journal.set(currency, 'notarizedHeight', state.height);
    journal.set(currency, 'supply', state.supply);
    journal.set(currency, 'reserves', plan.reserves);
  };
  world.include(draft.finish({ expiryHeight: world.height + 4, apply }));
}

/** Returns every transfer without its fee to its destination; burned amounts stay burned. */
export function refunds(transfers: readonly PendingTransfer[]): ClearingPayout[] {
  return transfers.flatMap(({ kind, destination, from, amount }) =>
    kind === 'burn' || kind === 'mint' ? [] : [{ to: destination, currencyId: from, amount }],
  );
}

/** Deposits with a currency that is paid out, and the newest ones, which the export made. */
function depositsToSpend(
  { deposits }: Currency,
  { payouts, fees, source, splitsDeposits }: ImportPlan,
): readonly Coin[] {
  if (splitsDeposits) return deposits;
  const paid = new Set(payouts.map(({ currencyId }) => currencyId));
  const brought = deposits.filter(({ txid }) => txid === source.txid);
  for (const { tokens } of brought) for (const id of tokens.keys()) paid.add(id);
  if (fees > 0n) paid.add(NATIVE);
  return deposits.filter(
    (coin) =>
      coin.txid === source.txid ||
      (paid.has(NATIVE) && coin.value > 0n) ||
      [...coin.tokens.keys()].some((id) => paid.has(id)),
  );
}

function totals(coins: readonly Coin[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { value, tokens } of coins) {
    if (value > 0n) sums.set(NATIVE, (sums.get(NATIVE) ?? 0n) + value);
    for (const [id, amount] of tokens) sums.set(id, (sums.get(id) ?? 0n) + amount);
  }
  return sums;
}

/** Estimates what each waiting conversion would pay if its import executed all waiting conversions now. */

import { isLiveBasket } from '../../domain/basket-liveness.ts';
import { type BatchConversion, estimateBatch } from '../../domain/batch-conversion.ts';
import type { BlockRef } from '../../domain/block-ref.ts';
import { parseReserves } from '../../domain/reserves.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import type { ApiContext } from '../api-context.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { tipHeight } from '../state/tip-height.ts';
import type { MempoolJournal } from './journal.ts';
import { newestOf } from './newest.ts';
import { conversionsOf } from './print-transaction.ts';
import { standingOf } from './standing.ts';

export interface WaitingConversion extends BatchConversion {
  readonly txid: string;
  readonly vout: number;
  readonly basketId: string;
  readonly viaCurrencyId: string | null;
  readonly status: 'unconfirmed' | 'pending';
}

export interface ConversionEstimate {
  readonly conversion: WaitingConversion;
  /** Satoshis; null if the basket is not live, lacks a reserve, or cannot execute all waiting conversions together. */
  readonly output: bigint | null;
}

export interface Estimates {
  readonly block: BlockRef;
  /** Newest request first; unconfirmed conversions come before all others. */
  readonly all: readonly ConversionEstimate[];
}

const readPending = rowReader({
  ...storedColumns(DEFINITIONS.transfer, [
    'txid',
    'vout',
    'toCurrencyId',
    'viaCurrencyId',
    'importCurrencyId',
    'amountIn',
    'conversionFee',
  ]),
  kind: columns.choice(['convert', 'via'] as const),
  from_currency_id: columns.text,
});
const readBasket = rowReader({
  ...storedColumns(DEFINITIONS.currency_state, ['currencyId', 'flags', 'supply']),
  /** JSON text. */
  reserves: columns.text,
});

/** Excludes conversions that another system executes: they do not change a basket of this one. */
const PENDING_SQL = `SELECT txid, vout, kind, from_currency_id, to_currency_id, via_currency_id, import_currency_id,
    amount_in, conversion_fee FROM transfers
  WHERE chain = $1 AND to_height IS NULL AND status IN ('pending', 'exported') AND kind IN ('convert', 'via')
    AND import_system_id IS NULL AND from_currency_id IS NOT NULL ORDER BY request_height DESC, txid, vout`;
const STATES_SQL = `SELECT currency_id, flags, supply, reserves FROM currency_states
  WHERE chain = $1 AND to_height IS NULL AND currency_id = ANY($2)`;

/** Computes the estimates once per state of the chain and its mempool; all callers share the result. */
export function estimatesOf(api: ApiContext, journal: MempoolJournal): Promise<Estimates> {
  const { chain, version } = journal;
  return api.snapshot((read) => {
    const tag = `${version} ${read.state.chainTag(chain)}`;
    return api.memo.get(`estimates of the mempool of ${chain}`, tag, () => readEstimates(read, journal));
  });
}

async function readEstimates(read: Snapshot, journal: MempoolJournal): Promise<Estimates> {
  const { chain } = journal;
  const converting = [...new Set(newestOf(journal).conversions.map(({ waiting }) => waiting))];
  const standing = await standingOf(read, chain, converting);
  const unconfirmed = standing.flatMap(({ transaction }) =>
    conversionsOf(transaction).flatMap((transfer): WaitingConversion[] => {
      const { txid, vout, kind, fromCurrencyId, toCurrencyId, viaCurrencyId, amountIn, conversionFee } = transfer;
      if ((kind !== 'convert' && kind !== 'via') || fromCurrencyId === null || transfer.importSystemId !== null)
        return [];
      const terms = { kind, fromCurrencyId, toCurrencyId, viaCurrencyId, amountIn, conversionFee };
      return [{ txid, vout, ...terms, basketId: transfer.importCurrencyId, status: 'unconfirmed' }];
    }),
  );
  const pending = (await read.rows(readPending, PENDING_SQL, [chain])).map(pendingConversion);
  const conversions = [...unconfirmed, ...pending];
  const baskets = await liveBaskets(read, chain, [...new Set(conversions.map(({ basketId }) => basketId))]);
  const outputs = new Map<WaitingConversion, bigint | null>();
  for (const [basketId, together] of Map.groupBy(conversions, (one) => one.basketId)) {
    const basket = baskets.get(basketId);
    const estimated = basket ? estimateBatch(basket, together) : [];
    for (const [index, one] of together.entries()) outputs.set(one, estimated[index] ?? null);
  }
  const all = conversions.map((conversion) => ({ conversion, output: outputs.get(conversion) ?? null }));
  return { block: { height: tipHeight(read, chain), hash: read.state.derived.get(chain)?.hash ?? '' }, all };
}

function pendingConversion(row: ReturnType<typeof readPending>): WaitingConversion {
  return {
    txid: row.txid,
    vout: row.vout,
    kind: row.kind,
    fromCurrencyId: row.from_currency_id,
    toCurrencyId: row.to_currency_id,
    viaCurrencyId: row.via_currency_id,
    amountIn: row.amount_in,
    conversionFee: row.conversion_fee,
    basketId: row.import_currency_id,
    status: 'pending',
  };
}

async function liveBaskets(read: Snapshot, chain: string, ids: readonly string[]) {
  const rows = await read.rows(readBasket, STATES_SQL, [chain, ids]);
  return new Map(
    rows
      .filter(({ flags, supply }) => isLiveBasket(flags) && supply > 0n)
      .map(({ currency_id: currencyId, supply, reserves }) => {
        return [currencyId, { currencyId, supply, reserves: parseReserves(reserves) }] as const;
      }),
  );
}

/** gettxhistoryrich: the effect of transactions on an address, with currencies, values and counterparties. */

import { SYSTEM_ADDRESSES } from '../../../domain/system-addresses.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { coins, coinsOrNull, usdValueOf } from '../../http/values.ts';
import {
  ACTIVITY_SQL,
  type ActivityRecord,
  type NetAmounts,
  netOf,
  readActivity,
} from '../../rest/addresses/activity-rows.ts';
import { latestPrices } from '../../rest/prices/price-rows.ts';
import { pricesAtBlocks } from '../../rest/prices/prices-at-blocks.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { RpcError } from '../rpc-error.ts';
import { addressesOf } from './addresses.ts';
import { integerOf, pageWindowOf, readArguments, type Signature } from './arguments.ts';
import type { Extension } from './extension.ts';

const SIGNATURE: Signature = {
  method: 'gettxhistoryrich',
  positions: ['address', 'page', 'pageSize'],
  required: 1,
  members: ['address', 'from', 'to', 'page', 'pageSize'],
};

const PAGE_SQL = `${ACTIVITY_SQL} AND a.height BETWEEN $3 AND $4
  ORDER BY a.height DESC, a.tx_index DESC LIMIT $5 OFFSET $6`;
const MAX_COUNTERPARTIES = 50;
/** Other addresses of transactions: with $5 those that sent, with $6 those that received, in any currency. */
const COUNTERPARTIES_SQL = `SELECT wanted.n, other.address
  FROM unnest($3::int[], $4::int[], $5::bool[], $6::bool[]) WITH ORDINALITY AS wanted(height, tx_index, gave, got, n)
  CROSS JOIN LATERAL (SELECT a.address FROM address_activity a
    WHERE a.chain = $1 AND a.height = wanted.height AND a.tx_index = wanted.tx_index AND a.address <> $2 AND a.address <> ALL($7)
      AND (wanted.gave AND (a.sent > 0 OR EXISTS (SELECT FROM jsonb_each_text(a.currencies) c WHERE c.value LIKE '-%'))
        OR wanted.got AND (a.received > 0 OR EXISTS (SELECT FROM jsonb_each_text(a.currencies) c WHERE c.value NOT LIKE '-%')))
    ORDER BY a.address LIMIT ${MAX_COUNTERPARTIES}) other
  ORDER BY wanted.n, other.address`;

const readCounterparty = rowReader({ n: columns.bigint, address: columns.text });

type Direction = 'in' | 'out' | 'both' | 'self';

interface Movement {
  readonly row: ActivityRecord;
  /** Net satoshis by currency, without zeros; the native coin first. */
  readonly net: NetAmounts;
  readonly direction: Direction;
}

/** `both`: something was received and something else sent, as in a trade; `self`: no net change. */
function directionOf(net: Movement['net']): Direction {
  const came = net.some(([, satoshis]) => satoshis > 0n);
  const went = net.some(([, satoshis]) => satoshis < 0n);
  if (came && went) return 'both';
  if (came) return 'in';
  return went ? 'out' : 'self';
}

function movementOf(row: ActivityRecord, nativeId: string): Movement {
  const net = netOf(row, nativeId);
  return { row, net, direction: directionOf(net) };
}

async function counterparties(
  read: Snapshot,
  systemAddresses: readonly string[],
  { chain, address, movements }: { chain: string; address: string; movements: readonly Movement[] },
) {
  const found = await read.rows(readCounterparty, COUNTERPARTIES_SQL, [
    chain,
    address,
    movements.map(({ row }) => row.height),
    movements.map(({ row }) => row.tx_index),
    movements.map(({ direction }) => direction !== 'out'),
    movements.map(({ direction }) => direction !== 'in'),
    systemAddresses,
  ]);
  const lists: string[][] = movements.map(() => []);
  for (const { n, address: other } of found) lists[Number(n) - 1]?.push(other);
  return lists;
}

export const transactionHistory: Extension = async ({ api, chain, read, texts }) => {
  const given = readArguments(texts, SIGNATURE);
  const [address = ''] = addressesOf(chain, given);
  const from = integerOf(given.get('from'), 0);
  const to = integerOf(given.get('to'), Math.max(from, tipHeight(read, chain.name)));
  if (from < 0 || to < from)
    throw new RpcError(RPC_CODES.invalidParameter, 'Start height must not be above end height');
  const { limit, offset } = pageWindowOf(given);
  const rows = await read.rows(readActivity, PAGE_SQL, [chain.name, address, from, to, limit, offset]);
  const nativeId = api.currencies.nativeId(chain);
  const movements = rows.map((row) => movementOf(row, nativeId));
  const others = await counterparties(read, [...SYSTEM_ADDRESSES], { chain: chain.name, address, movements });
  const ids = [...new Set(movements.flatMap(({ net }) => net.map(([id]) => id)))];
  const prices = new Map((await latestPrices(read, api, ids)).map((price) => [price.currency_id, price]));
  const heights = movements.map(({ row }) => row.height);
  const priceAt = await pricesAtBlocks(read, api, chain.name, { heights, ids });
  const currencies = await api.currencies.of(read);
  return movements.map(({ row, net, direction }, index) => ({
    txid: row.txid,
    height: row.height,
    time: Number(row.time),
    type: row.kind,
    direction,
    amounts: net.map(([currencyId, satoshis]) => ({
      currencyId,
      name: currencies.name(currencyId),
      amount: coins(satoshis),
      // usdValue is at the newest price, computed at block usdHeight; usdValueThen is at the price at the end of the row's own block.
      usdValue: usdValueOf(satoshis, prices.get(currencyId)?.usd_price ?? null),
      usdHeight: prices.get(currencyId)?.height ?? null,
      usdValueThen: usdValueOf(satoshis, priceAt(row.height, currencyId).usdPrice),
      usdRuleThen: priceAt(row.height, currencyId).rule,
    })),
    fee: coinsOrNull(row.fee),
    counterparties: others[index] ?? [],
  }));
};

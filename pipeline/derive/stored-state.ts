/** Reads current state from Postgres by key, many keys at once. */
import type { Pool } from 'pg';
import { factReader } from '../../infra/postgres/fact-columns.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import type { StoredRow } from '../../infra/row-reader.ts';
import type { BlockTip, CurrencyStateAt, OutputState } from '../../processors/state/chain-state.ts';
import type { OutPoint } from '../../processors/state/referenced-keys.ts';
import {
  type BalanceFact,
  type CurrencyFact,
  DEFINITIONS,
  type ExportFact,
  type IdentityFact,
  type TransferFact,
} from '../../schemas/facts.ts';
import { listOf, listParam } from '../sinks/postgres/list-param.ts';

const readOutput = factReader(DEFINITIONS.output);
const readBalance = factReader(DEFINITIONS.balance);
const readIdentity = factReader(DEFINITIONS.identity);
const readCurrency = factReader(DEFINITIONS.currency);
const readCurrencyState = factReader(DEFINITIONS.currency_state);
const readTransfer = factReader(DEFINITIONS.transfer);
const readExport = factReader(DEFINITIONS.export);

/** Adds the height at which the row begins. */
const withHeight =
  <F>(read: (row: StoredRow) => F) =>
  (row: StoredRow): F & { readonly height: number } => ({ ...read(row), height: Number(row.from_height) });

export interface StoredState {
  tip(height: number): Promise<BlockTip | null>;
  lostCoins(): Promise<boolean>;
  currencies(): Promise<CurrencyFact[]>;
  currencyStates(): Promise<CurrencyStateAt[]>;
  /** Returns unspent outputs only. */
  outputs(keys: readonly OutPoint[]): Promise<OutputState[]>;
  identities(addresses: readonly string[]): Promise<IdentityFact[]>;
  exports(keys: readonly OutPoint[]): Promise<ExportFact[]>;
  transfers(keys: readonly OutPoint[]): Promise<TransferFact[]>;
  balances(keys: readonly (readonly [address: string, currencyId: string])[]): Promise<BalanceFact[]>;
}

/** Passes rows through, since the readers of facts parse them. */
const asStored = (row: StoredRow): StoredRow => row;

/**
 * Looks up each key on its own (LATERAL … LIMIT 1), in the order of the primary key, where the newest version is the last. So neither
 * old versions nor missing statistics make a lookup slow.
 */
export function createStoredState(pool: Pool, chain: string): StoredState {
  const rows = (sql: string, ...params: unknown[]) => readRows(pool, asStored, sql, [chain, ...params]);

  async function byPoint(keys: readonly OutPoint[], lookup: string): Promise<StoredRow[]> {
    if (keys.length === 0) return [];
    return rows(
      `SELECT found.* FROM unnest(${listOf('$2')}, ${listOf('$3')}::integer[]) AS wanted(txid, n), LATERAL (${lookup} LIMIT 1) found`,
      listParam(keys, ({ txid }) => txid),
      listParam(keys, ({ n }) => n),
    );
  }

  return {
    async tip(height) {
      const [row] = await rows('SELECT hash, time, clock FROM blocks WHERE chain = $1 AND height = $2', height);
      return row ? { height, hash: String(row.hash), time: Number(row.time), clock: Number(row.clock) } : null;
    },
    async lostCoins() {
      const [row] = await rows(
        `SELECT EXISTS (SELECT FROM dead_letters WHERE chain = $1 AND scope IN ('block', 'transaction')) AS lost`,
      );
      return row?.lost === true;
    },
    currencies: async () =>
      (await rows('SELECT * FROM currencies WHERE chain = $1 AND to_height IS NULL')).map(readCurrency),
    currencyStates: async () =>
      (await rows('SELECT * FROM currency_states WHERE chain = $1 AND to_height IS NULL')).map(
        withHeight(readCurrencyState),
      ),
    outputs: async (keys) =>
      (
        await byPoint(
          keys,
          `SELECT txid, n, tx_index, value, currencies, kind, addresses, data, from_height FROM outputs
           WHERE chain = $1 AND txid = decode(wanted.txid, 'hex') AND n = wanted.n AND to_height IS NULL`,
        )
      ).map(withHeight(readOutput)),
    async identities(addresses) {
      if (addresses.length === 0) return [];
      const found = await rows(
        `SELECT found.* FROM unnest(${listOf('$2')}) AS wanted(address), LATERAL (
           SELECT * FROM identities WHERE chain = $1 AND identity_address = wanted.address
           ORDER BY chain DESC, identity_address DESC, from_height DESC, tx_index DESC, vout DESC LIMIT 1) found`,
        listParam(addresses, (address) => address),
      );
      return found.map(readIdentity);
    },
    exports: async (keys) =>
      (
        await byPoint(
          keys,
          `SELECT * FROM exports WHERE chain = $1 AND txid = decode(wanted.txid, 'hex') AND vout = wanted.n`,
        )
      ).map(readExport),
    transfers: async (keys) =>
      (
        await byPoint(
          keys,
          `SELECT * FROM transfers WHERE chain = $1 AND txid = decode(wanted.txid, 'hex') AND vout = wanted.n
           ORDER BY chain DESC, txid DESC, vout DESC, from_height DESC`,
        )
      ).map(readTransfer),
    async balances(keys) {
      if (keys.length === 0) return [];
      const found = await rows(
        `SELECT wanted.address, wanted.currency_id, found.balance, found.received
         FROM unnest(${listOf('$2')}, ${listOf('$3')}) AS wanted(address, currency_id), LATERAL (
           SELECT balance, received FROM newest_balances
           WHERE chain = $1 AND address = wanted.address AND currency_id = wanted.currency_id
           ORDER BY chain DESC, address DESC, currency_id DESC LIMIT 1) found`,
        listParam(keys, ([address]) => address),
        listParam(keys, ([, currencyId]) => currencyId),
      );
      return found.map(readBalance);
    },
  };
}

/**
 * The baseline: a script as one would write it in an afternoon for plain payments. It parses with JSON.parse, keeps coins and balances in
 * maps, uses COPY and UPDATE in Postgres, and inserts into ClickHouse, all in sequence. It handles no crashes, forks or tokens.
 */

import type { CsvValue } from '../../infra/clickhouse/csv.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { type CopyValue, copyRows } from '../../infra/postgres/copy.ts';
import type { Stores } from '../../infra/stores.ts';
import { decodeBlocksRecord } from '../../schemas/log-codec.ts';

interface NaiveTransaction {
  readonly txid: string;
  readonly locktime: number;
  readonly overwintered: boolean;
  readonly expiryheight?: number;
  readonly vin: readonly { coinbase?: string; txid: string; vout: number; scriptSig: { hex: string } }[];
  readonly vout: readonly {
    readonly n: number;
    readonly valueSat: number;
    readonly scriptPubKey: { readonly hex: string; readonly type: string; readonly addresses?: readonly [string] };
  }[];
}

interface NaiveBlock {
  readonly [field: string]: unknown;
  readonly hash: string;
  readonly height: number;
  readonly time: number;
  readonly validationtype: string;
  readonly postxddest?: string;
  readonly posrewarddest?: string;
  readonly valuePools?: readonly { readonly chainValue: number }[];
  readonly tx: readonly NaiveTransaction[];
}

type Row = CopyValue[];
interface StateRow {
  readonly head: Row;
  readonly from: number;
  end: readonly [height: number, ...values: CopyValue[]] | null;
}
interface Account {
  balance: number;
  received: number;
}
interface Flow {
  received: number;
  sent: number;
}

const BATCH = 5000;
const COLUMNS = {
  blocks:
    'chain height hash previous_hash time clock size tx_count validation_type difficulty bits nonce version merkle_root chain_work chain_stake reward miner_address fees fee_pool stake_txid stake_address stake_reward_address stake_source_txid stake_source_vout stake_amount transparent_change shielded_supply position',
  transactions: 'chain height txid tx_index kind kinds fee size lock_time expiry_height position',
  address_activity: 'chain height address tx_index txid received sent currencies position',
  rewards: 'chain height address txid vout kind amount position',
  outputs:
    'chain txid n tx_index value currencies kind addresses data from_height to_height spent_txid spent_index position',
  balance_versions: 'chain address currency_id balance received from_height position',
};
const CLICKHOUSE_COLUMNS = {
  blocks:
    'chain height hash time clock size tx_count validation_type difficulty reward miner_address fees stake_amount fee_pool transparent_change shielded_supply position',
  transactions: 'chain height tx_index time txid kind fee size position',
  address_deltas: 'chain address currency_id height tx_index time txid received sent position',
  stakes: 'chain height time txid address reward_address amount position',
};

export async function runNaiveScript(log: EventLog, stores: Stores, chain: string, native: string): Promise<void> {
  const coins = new Map<string, { value: number; address: string }>();
  const accounts = new Map<string, Account>();
  let clock = 0;
  for (let position = 0; ; ) {
    const records = await log.read('blocks', chain, position, { maxRecords: BATCH, maxBytes: 1 << 30 });
    if (records.length === 0) return;
    const rows: Record<keyof typeof COLUMNS, Row[]> = {
      blocks: [],
      transactions: [],
      address_activity: [],
      rewards: [],
      outputs: [],
      balance_versions: [],
    };
    const facts: Record<keyof typeof CLICKHOUSE_COLUMNS, CsvValue[][]> = {
      blocks: [],
      transactions: [],
      address_deltas: [],
      stakes: [],
    };
    const made = new Map<string, StateRow>();
    const spent: [txid: string, n: number, height: number, spender: string, index: number][] = [];
    const newest = new Map<string, Row>();

    for (const { payload } of records) {
      const record = decodeBlocksRecord(payload);
      if (record.kind !== 'block') throw new TypeError('the baseline knows no forks');
      const block = JSON.parse(Buffer.from(record.block).toString()) as NaiveBlock;
      readBlock(block, record.position);
    }

    function readBlock(block: NaiveBlock, at: number): void {
      const { height, time } = block;
      clock = Math.max(clock, time);
      const staked = block.validationtype === 'stake';
      const touched = new Map<string, Flow>();
      let fees = 0;
      block.tx.forEach((tx, index) => {
        const isCoinbase = tx.vin[0]?.coinbase !== undefined;
        const kind = isCoinbase ? 'coinbase' : staked && index === block.tx.length - 1 ? 'stake' : 'transfer';
        const flows = new Map<string, Flow>();
        let surplus = 0;
        let size = tx.overwintered ? 4 + 4 + 1 + 1 + 4 + 4 + 8 + 2 + 1 : 4 + 1 + 1 + 4;
        tx.vin.forEach((input, inputIndex) => {
          const script = (input.coinbase ?? input.scriptSig.hex).length / 2;
          size += 40 + (script < 253 ? 1 : 3) + script;
          if (input.coinbase !== undefined) return;
          const key = `${input.txid}:${input.vout}`;
          const coin = coins.get(key);
          if (!coin) throw new TypeError(`unknown coin ${key}`);
          coins.delete(key);
          surplus += coin.value;
          flow(flows, coin.address).sent += coin.value;
          const row = made.get(key);
          if (row) row.end = [height, { hex: tx.txid }, inputIndex];
          else spent.push([input.txid, input.vout, height, tx.txid, inputIndex]);
        });
        for (const { n, valueSat, scriptPubKey } of tx.vout) {
          const addresses = scriptPubKey.addresses ?? [];
          const [address] = addresses;
          size += 8 + 1 + scriptPubKey.hex.length / 2;
          surplus -= valueSat;
          const head = [chain, { hex: tx.txid }, n, index, valueSat, null, scriptPubKey.type, [...addresses], null];
          made.set(`${tx.txid}:${n}`, { head, from: height, end: null });
          if (address === undefined) continue; // data output, which cannot be spent
          coins.set(`${tx.txid}:${n}`, { value: valueSat, address });
          flow(flows, address).received += valueSat;
          if (isCoinbase) {
            const how = staked ? 'staking' : 'mining';
            rows.rewards.push([chain, height, address, { hex: tx.txid }, n, how, valueSat, at]);
          }
        }
        const fee = isCoinbase ? null : surplus;
        fees += fee ?? 0;
        const { txid, locktime, expiryheight = 0 } = tx;
        rows.transactions.push([
          chain,
          height,
          { hex: txid },
          index,
          kind,
          [kind],
          fee,
          size,
          locktime,
          expiryheight,
          at,
        ]);
        facts.transactions.push([chain, height, index, time, txid, kind, fee, size, at]);
        if (height === 0) return;
        for (const [address, { received, sent }] of flows) {
          rows.address_activity.push([chain, height, address, index, { hex: txid }, received, sent, null, at]);
          facts.address_deltas.push([chain, address, native, height, index, time, txid, received, sent, at]);
          const total = flow(touched, address);
          total.received += received;
          total.sent += sent;
        }
      });
      for (const [address, { received, sent }] of touched) newBalance(address, received, sent, height, at);
      pushBlock(block, fees, at);
    }

    function newBalance(address: string, received: number, sent: number, height: number, at: number): void {
      const before = accounts.get(address);
      const account = {
        balance: (before?.balance ?? 0) + received - sent,
        received: (before?.received ?? 0) + received,
      };
      accounts.set(address, account);
      const head = [chain, address, native, account.balance, account.received];
      newest.set(address, head);
      rows.balance_versions.push([...head, height, at]);
    }

    function pushBlock(block: NaiveBlock, fees: number, at: number): void {
      const { height, hash, time, tx } = block;
      const last = tx.at(-1);
      const stake = block.validationtype === 'stake' ? last : undefined;
      const stakeAmount = stake ? (stake.vout[0]?.valueSat ?? 0) : null;
      const miner = block.posrewarddest ?? block.postxddest ?? tx[0]?.vout[0]?.scriptPubKey.addresses?.[0] ?? null;
      const shielded = block.valuePools?.reduce((sum, pool) => sum + Math.round(pool.chainValue * 1e8), 0) ?? null;
      const reward = tx[0]?.vout.reduce((sum, { valueSat }) => sum + valueSat, 0) ?? 0;
      // All new coins stay transparent: nothing is burnt or shielded here.
      const change = height === 0 ? 0 : reward - fees;
      const hexOf = (field: string): CopyValue => (block[field] === undefined ? null : { hex: String(block[field]) });
      // JSON.parse drops trailing zeros; these blocks are known to have five decimals.
      const difficulty = Number(block.difficulty);
      rows.blocks.push([
        ...[chain, height, hexOf('hash'), hexOf('previousblockhash'), time, clock, block.size as number, tx.length],
        ...[block.validationtype, difficulty.toFixed(5), block.bits as string, block.nonce as string],
        ...[block.version as number, hexOf('merkleroot'), hexOf('chainwork'), hexOf('chainstake'), reward, miner, fees],
        ...[
          null,
          stake ? { hex: stake.txid } : null,
          stake ? (block.postxddest ?? null) : null,
          block.posrewarddest ?? null,
        ],
        ...[hexOf('possourcetxid'), (block.possourcevoutnum as number | undefined) ?? null, stakeAmount],
        ...[change, shielded, at],
      ]);
      facts.blocks.push([
        ...[chain, height, hash, time, clock, block.size as number, tx.length, block.validationtype, difficulty],
        ...[reward, miner, fees, stakeAmount, null, change, shielded, at],
      ]);
      if (stake) facts.stakes.push([chain, height, time, stake.txid, block.postxddest ?? null, miner, stakeAmount, at]);
    }

    position += records.length;
    for (const { head, from, end } of made.values()) {
      rows.outputs.push([...head, from, end?.[0] ?? null, end?.[1] ?? null, end?.[2] ?? null, position]);
    }
    await stores.postgres.transaction(async (client) => {
      await client.query(
        `UPDATE outputs o SET to_height = s.height, spent_txid = decode(s.spender, 'hex'), spent_index = s.index
         FROM unnest($2::text[], $3::int[], $4::int[], $5::text[], $6::int[]) AS s(txid, n, height, spender, index)
         WHERE o.chain = $1 AND o.txid = decode(s.txid, 'hex') AND o.n = s.n`,
        [chain, ...[0, 1, 2, 3, 4].map((column) => spent.map((row) => row[column]))],
      );
      await client.query(
        `INSERT INTO newest_balances (chain, address, currency_id, balance, received) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::numeric[])
         ON CONFLICT (chain, address, currency_id) DO UPDATE SET balance = excluded.balance, received = excluded.received`,
        [0, 1, 2, 3, 4].map((column) => [...newest.values()].map((head) => head[column])),
      );
      for (const table of Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]) {
        await copyRows(client, table, COLUMNS[table].split(' '), rows[table]);
      }
    });
    for (const table of Object.keys(CLICKHOUSE_COLUMNS) as (keyof typeof CLICKHOUSE_COLUMNS)[]) {
      await stores.clickhouse.insert(table, CLICKHOUSE_COLUMNS[table].split(' '), facts[table]);
    }
  }
}

function flow(flows: Map<string, Flow>, address: string): Flow {
  let found = flows.get(address);
  if (!found) {
    found = { received: 0, sent: 0 };
    flows.set(address, found);
  }
  return found;
}

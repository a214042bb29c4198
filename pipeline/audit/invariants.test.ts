import fc from 'fast-check';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import { createChain } from '../../test/generator/chain.ts';
import { EVERYTHING } from '../../test/generator/mixes.ts';
import { blockRecord, recordedFile } from '../../test/laws/chain-records.ts';
import { NATIVE } from '../../test/laws/replay.ts';
import { type AuditedWorld, createAuditedWorld } from '../../test/support/pipeline/audit/audited-world.ts';
import { recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { brokenInvariants } from './invariants.ts';

const PCHAIN = 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV';
const RUNS = Number(process.env.LAWS_RUNS ?? 8);
const SUBSIDY = 6_00000000n;
const PREMINE = 50_000_000_00000000n;

const generated = createChain({ seed: 11, addresses: 9, transactions: 12, mix: EVERYTHING });
const CHAINS = [
  { name: 'vrsc', records: recordedFile('blocks.jsonl.gz'), nativeCurrencyId: NATIVE },
  { name: 'root', records: recordedFile('../pbaas/root/blocks.jsonl.gz'), nativeCurrencyId: NATIVE },
  { name: 'pchain', records: recordedFile('../pbaas/pchain/blocks.jsonl.gz'), nativeCurrencyId: PCHAIN },
  {
    name: 'generated',
    records: Array.from({ length: 250 }, () => blockRecord(generated.next())),
    nativeCurrencyId: NATIVE,
  },
];
const tipOf = (name: string) => (CHAINS.find((chain) => chain.name === name)?.records.length ?? 0) - 1;

let world: AuditedWorld;

beforeAll(async () => {
  world = await createAuditedWorld(CHAINS);
  await world.derive();
}, 600_000);
afterAll(() => world.close());

const COMMITTED = { height: 0, settledHeight: 0, generation: 1, tick: 0n };

/** Returns the invariants that are broken in a range, each with the first height. */
async function broken(client: PoolClient, name: string, low: number, high: number): Promise<string[]> {
  const chain = world.chains.find((one) => one.name === name);
  if (!chain) throw new TypeError(`no chain ${name}`);
  const violations = await brokenInvariants(client, { chain, low, high, committed: COMMITTED });
  return violations.map(({ invariant, height }) => `${invariant} ${height}`);
}

/** Runs `change`, calls `look` with its first row, and rolls the change back. */
async function withChange<T>(
  change: string,
  values: readonly unknown[],
  look: (client: PoolClient, row: Readonly<Record<string, unknown>> | undefined) => Promise<T>,
): Promise<T> {
  const client = await world.stores.postgres.pool.connect();
  try {
    await client.query('BEGIN');
    const { rows, rowCount } = await client.query(change, [...values]);
    expect(rowCount).toBeGreaterThan(0);
    return await look(client, rows[0]);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

describe.each(CHAINS.map(({ name }) => name))('on %s', (name) => {
  it('hold at every height, whatever the checked ranges', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: tipOf(name) }), { maxLength: 4 }), async (cuts) => {
        const starts = [...new Set([0, ...cuts])].sort((a, b) => a - b);
        const found = await world.stores.postgres.transaction(async (client) => {
          const all: string[] = [];
          for (const [index, low] of starts.entries()) {
            all.push(...(await broken(client, name, low, (starts[index + 1] ?? tipOf(name) + 1) - 1)));
          }
          return all;
        });
        expect(found).toEqual([]);
      }),
      { numRuns: Math.ceil(RUNS / 2) },
    );
  }, 300_000);

  it('detect every output that is lost, altered, duplicated or spent at another height', async () => {
    const { rows } = await world.stores.postgres.pool.query<{
      txid: string;
      n: number;
      made: number;
      spent: number | null;
    }>(
      // Coins lost by a transaction with shielded parts look as if it had shielded them.
      `SELECT txid, n, from_height AS made, to_height AS spent FROM outputs
       WHERE chain = $1 AND value > 0 AND from_height BETWEEN 3 AND $2 AND NOT EXISTS (
         SELECT FROM transactions t WHERE t.chain = $1 AND t.txid IN (outputs.txid, spent_txid) AND 'shielded' = ANY (kinds)
       ) ORDER BY txid, n`,
      [name, tipOf(name) - 1],
    );
    const one = 'WHERE chain = $1 AND txid = $2 AND n = $3';
    const copied = `INSERT INTO outputs SELECT (jsonb_populate_record(o, '{"n": 999, "to_height": null}')).* FROM outputs o ${one}`;
    await fc.assert(
      fc.asyncProperty(fc.nat(rows.length - 1), fc.nat(3), async (index, kind) => {
        const row = rows[index];
        if (!row) return;
        const { made, spent } = row;
        fc.pre(spent !== made && (kind !== 3 || (spent !== null && spent < tipOf(name))));
        const change = [
          `DELETE FROM outputs ${one}`,
          `UPDATE outputs SET value = value + 1 ${one}`,
          copied,
          `UPDATE outputs SET to_height = to_height + 1 ${one}`,
        ][kind] as string;
        const [low, high] = [Math.max(0, made - 30), Math.min(tipOf(name), (kind === 3 ? (spent ?? 0) : made) + 30)];
        const values = [name, `\\x${row.txid}`, row.n];
        const found = await withChange(change, values, (client) => broken(client, name, low, high));
        expect(found).toContain(`native_issue ${kind === 3 ? spent : made}`);
      }),
      { numRuns: RUNS },
    );
  }, 300_000);
});

describe('on the recording', () => {
  const FIRST_LATER = 'chain = $1 AND from_height > 500 AND (to_height IS NULL OR to_height > from_height)';

  it.each([
    [
      'a token is created from nothing',
      `UPDATE outputs SET currencies = jsonb_set(currencies, '{iLP4cjxJRzZqEBDVDWWF9mwta9YSgegAh2}', '"1"')
      WHERE ctid = (SELECT ctid FROM outputs WHERE ${FIRST_LATER} AND currencies ? 'iLP4cjxJRzZqEBDVDWWF9mwta9YSgegAh2' ORDER BY from_height LIMIT 1)
      RETURNING from_height`,
      'token_supply',
    ],
    [
      'a deposit belongs to another basket',
      `UPDATE outputs SET data = '{"controllingcurrencyid":"iL61AyTw6Td3khQNE7oFGoH6cfM3mpxLXQ"}'
      WHERE ctid = (SELECT ctid FROM outputs WHERE ${FIRST_LATER} AND kind = 'reservedeposit' ORDER BY from_height LIMIT 1)
      RETURNING from_height`,
      'reserve_deposits',
    ],
    [
      'a supply is wrong',
      `UPDATE currency_states SET supply = supply + 1
      WHERE ctid = (SELECT ctid FROM currency_states WHERE ${FIRST_LATER} ORDER BY from_height LIMIT 1)
      RETURNING from_height`,
      'token_supply',
    ],
    [
      'a launch leaves a negative remainder',
      `UPDATE currency_states SET supply = supply - 100000000
      WHERE chain = $1 AND currency_id = 'iLP4cjxJRzZqEBDVDWWF9mwta9YSgegAh2' AND from_height >= 299 RETURNING 299 AS from_height`,
      'token_supply',
    ],
  ])('%s: found at its height', async (_, change, invariant) => {
    await withChange(change, ['vrsc'], async (client, row) => {
      expect(await broken(client, 'vrsc', 0, tipOf('vrsc'))).toContain(`${invariant} ${row?.from_height}`);
    });
  });

  it('the issued coins equal the supply that the daemon reports', async () => {
    const supply =
      recordedTruth<Record<string, { total: { value: string }; zfunds: { value: string } }>>('truth/supply.json');
    for (const height of [1, 100, 775, 1550]) {
      const { rows } = await world.stores.postgres.pool.query<{ unspent: string; pool: bigint | null }>(
        `SELECT (SELECT sum(value) FROM outputs WHERE chain = 'vrsc' AND from_height BETWEEN 1 AND $1
           AND (to_height IS NULL OR to_height > $1))::text AS unspent,
         (SELECT fee_pool FROM blocks WHERE chain = 'vrsc' AND height = $1) AS pool`,
        [height],
      );
      const said = supply[`coinsupply_${height}`];
      const total = coinsToSatoshis(String(said?.total));
      expect(BigInt(rows[0]?.unspent ?? 0) + coinsToSatoshis(String(said?.zfunds))).toBe(total);
      expect(total + (rows[0]?.pool ?? 0n)).toBe(PREMINE + SUBSIDY * BigInt(height));
    }
  });
});

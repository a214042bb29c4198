/** The bridge feed of an address equals the whole feed filtered by sender and recipient, however the transfers are linked. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { poolRows } from '../../../test/support/api/pool-rows.ts';
import { createTestStores, type TestStores } from '../../../test/support/infra/test-stores.ts';
import { type BridgeRecord, bridgeSql, readBridged } from './bridge-rows.ts';

const MINUTES = 60_000;
const RUNS = 120;
const CHAINS = ['one', 'two'];
const ADDRESSES = ['RA', 'RB'];
const OUTPUTS = [0, 1];

let stores: TestStores;

beforeAll(async () => {
  stores = await createTestStores();
}, 2 * MINUTES);

afterAll(() => stores.close());

interface Transfer {
  readonly chain: string;
  readonly txid: number;
  readonly vout: number;
  readonly isReplaced: boolean;
  /** Out of the chain, into it, or within it. */
  readonly direction: 'out' | 'in' | 'within';
  readonly source: string | null;
  readonly destination: string | null;
  /** Drawn from few values, so that both ends of a transfer occur. */
  readonly exported: number | null;
  readonly payout: { readonly txid: number; readonly vout: number } | null;
}

const txid = fc.nat({ max: 5 });
const transfer: fc.Arbitrary<Transfer> = fc
  .record({
    chain: fc.constantFrom(...CHAINS),
    txid,
    vout: fc.constantFrom(...OUTPUTS),
    isReplaced: fc.boolean(),
    direction: fc.constantFrom('out', 'in', 'within'),
    source: fc.option(fc.constantFrom(...ADDRESSES)),
    destination: fc.option(fc.constantFrom(...ADDRESSES)),
    exported: fc.option(fc.nat({ max: 3 })),
    payout: fc.option(fc.record({ txid, vout: fc.constantFrom(...OUTPUTS) })),
  })
  // A transfer that arrives from another system has no source.
  .map((made): Transfer => ({ ...made, source: made.direction === 'in' ? null : made.source }) as Transfer);

/** An export has a transfer once on a chain, and an output is the payout of one transfer. */
function consistent(transfers: readonly Transfer[]): Transfer[] {
  const taken = new Set<string>();
  const once = <Value>(value: Value | null, key: string): Value | null => {
    const isFirst = value !== null && !taken.has(key);
    taken.add(key);
    return isFirst ? value : null;
  };
  return transfers.map((made) => {
    const { chain, direction, exported, payout } = made;
    return {
      ...made,
      exported: once(exported, `${chain} ${direction} ${exported}`),
      payout: once(payout, `${chain} ${JSON.stringify(payout)}`),
    };
  });
}

const bytes = (number: number) => Buffer.alloc(32, number + 1);

async function write(transfers: readonly Transfer[]): Promise<void> {
  const { pool } = stores.postgres;
  await pool.query('TRUNCATE transfers');
  for (const { chain, txid, vout, isReplaced, direction, source, destination, exported, payout } of transfers) {
    await pool.query(
      `INSERT INTO transfers (chain, txid, vout, from_height, to_height, kind, status, flags, to_currency_id, import_currency_id,
         amount_in, transfer_fee, transfer_fee_currency_id, conversion_fee, destination, source, request_height, request_time, position,
         import_system_id, source_system_id, export_txid, export_vout, export_index, import_txid, payout_vout)
       VALUES ($1, $2, $3, 5, $4, 'send', 'pending', 0, 'iX', 'iX', 1, 0, 'iX', 0, $5, $6, $7, 0, 0, $8, $9, $10, $11, $11, $12, $13)`,
      [
        chain,
        bytes(txid),
        vout,
        isReplaced ? 6 : null,
        destination,
        source,
        txid,
        direction === 'out' ? 'iOther' : null,
        direction === 'in' ? 'iOther' : null,
        exported === null ? null : bytes(100 + exported),
        exported === null ? null : 0,
        payout && bytes(payout.txid),
        payout?.vout ?? null,
      ],
    );
  }
}

const ORDER = ' ORDER BY t.request_height, t.txid, t.vout';

async function feed(chain: string, address?: string): Promise<BridgeRecord[]> {
  const { sql, values } = bridgeSql({ state: { generation: 1, leftOut: [] }, chain, chains: CHAINS, address });
  return poolRows(stores.postgres).rows(readBridged, sql + ORDER, values);
}

it('returns for an address exactly the rows with the address as sender or recipient', {
  timeout: 5 * MINUTES,
}, async () => {
  let found = 0;
  const key = ({ chain, txid, vout }: Transfer) => `${chain} ${txid} ${vout}`;
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(transfer, { minLength: 1, maxLength: 24, selector: key }), async (transfers) => {
      await write(consistent(transfers));
      for (const chain of CHAINS) {
        const whole = await feed(chain);
        for (const address of ADDRESSES) {
          const own = whole.filter((row) => [row.destination, row.source, row.first_source].includes(address));
          expect(await feed(chain, address)).toEqual(own);
          found += own.length;
        }
      }
    }),
    { numRuns: RUNS },
  );
  expect(found).toBeGreaterThan(RUNS);
});

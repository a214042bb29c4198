/** Compares the stores with a running daemon for sampled blocks, addresses, identities and currencies, while both are at the same tip. */
import { SERVICE } from '../../api/access/priority-lanes.ts';
import { createIdentityHistory } from '../../api/rpc/identity-history.ts';
import { nameToAddress } from '../../domain/names.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import {
  balanceAt,
  comparableUnspent,
  deltasOf,
  inOrder,
  SENT,
  txidsOf,
  unspentInOrder,
  unspentOf,
} from '../daemon-equality/addresses.ts';
import { canonical, type Members, parsed } from '../daemon-equality/canonical.ts';
import type { ComparedAnswer, Ours } from '../daemon-equality/comparison.ts';
import { type IdentityStateRow, identityAnswer, STATES_AT, WALLET } from '../daemon-equality/identities.ts';
import { supplyAt } from '../daemon-equality/supply.ts';
import { getexports, getimports, PROOF } from '../daemon-equality/transfers.ts';
import { poolRows } from '../support/api/pool-rows.ts';

export interface LiveDaemon {
  readonly client: VerusdClient;
  /** Height of both while one answer is compared. */
  readonly height: number;
}

export interface LiveComparison {
  readonly method: string;
  /** Samples from the stores, such as addresses or heights. */
  samples(ours: Ours, count: number): Promise<readonly string[]>;
  compare(ours: Ours, daemon: LiveDaemon, sample: string): Promise<ComparedAnswer>;
}

/** Longer histories are not compared: one answer of the daemon would have hundreds of megabytes. */
const LONGEST_HISTORY = 2_000;
const ADDRESSES_SQL = `SELECT address AS sample FROM address_activity WHERE chain = $1 AND address ~ '^[iR]'
  GROUP BY address HAVING count(*) <= ${LONGEST_HISTORY} ORDER BY md5(address) LIMIT $2`;
const IDENTITIES_SQL = `SELECT identity_address AS sample FROM identities WHERE chain = $1
  GROUP BY 1 ORDER BY md5(identity_address) LIMIT $2`;
const CURRENCIES_SQL = `SELECT currency_id AS sample FROM currencies WHERE chain = $1
  GROUP BY 1 ORDER BY md5(currency_id) LIMIT $2`;
const HEIGHTS_SQL = `SELECT height::text AS sample FROM blocks WHERE chain = $1 ORDER BY md5(height::text) LIMIT $2`;

const sampledBy =
  (sql: string): LiveComparison['samples'] =>
  async ({ postgres, chain }, count) =>
    (await postgres.pool.query<{ sample: string }>(sql, [chain, count])).rows.map(({ sample }) => sample);

const ofAddresses = sampledBy(ADDRESSES_SQL);
const ofIdentities = sampledBy(IDENTITIES_SQL);
const ofCurrencies = sampledBy(CURRENCIES_SQL);
const whole = (address: string, height: number) => ({ addresses: [address], from: 1, to: height });

const address = (
  method: string,
  expected: (answer: unknown, ours: Ours) => string,
  own: (ours: Ours, address: string, height: number) => Promise<string>,
): LiveComparison => ({
  method,
  samples: ofAddresses,
  async compare(ours, { client, height }, sample) {
    const answer = await client.call(method, [{ addresses: [sample] }]);
    return { asked: sample, expected: expected(answer, ours), ours: await own(ours, sample, height) };
  },
});

const transfers = (method: 'getimports' | 'getexports', own: typeof getimports): LiveComparison => ({
  method,
  samples: ofCurrencies,
  async compare(ours, { client, height }, sample) {
    const answer = await client.call(method, [sample]);
    return {
      asked: sample,
      expected: canonical(answer ?? [], PROOF),
      ours: canonical(await own(ours, sample, 0, height)),
    };
  },
});

async function identityOf({ postgres, chain, root }: Ours, id: string, height: number): Promise<string> {
  const { rows } = await postgres.pool.query<IdentityStateRow>(`${STATES_AT} AND identity_address = $3`, [
    chain,
    height,
    id,
  ]);
  const row = rows.at(-1);
  return row ? canonical(identityAnswer(row, root)) : 'none';
}

export const LIVE_COMPARISONS: readonly LiveComparison[] = [
  {
    method: 'getblockhash',
    samples: sampledBy(HEIGHTS_SQL),
    async compare({ postgres, chain }, { client }, height) {
      const sql = 'SELECT hash FROM blocks WHERE chain = $1 AND height = $2';
      const { rows } = await postgres.pool.query<{ hash: string }>(sql, [chain, height]);
      return {
        asked: height,
        expected: String(await client.call('getblockhash', [Number(height)])),
        ours: rows[0]?.hash ?? '',
      };
    },
  },
  address(
    'getaddressbalance',
    (answer) => canonical(answer),
    (ours, sample, height) => balanceAt(ours, [sample], height),
  ),
  address(
    'getaddressdeltas',
    // Outputs of the genesis block are not credited to any address.
    (answer) => canonical(inOrder((answer as readonly Members[]).filter(({ height }) => Number(height) > 0)), SENT),
    async (ours, sample, height) => canonical(inOrder(await deltasOf(ours, whole(sample, height)))),
  ),
  address(
    'getaddresstxids',
    (answer) => canonical(answer),
    ({ postgres, chain }, sample, height) => txidsOf(postgres, chain, whole(sample, height)),
  ),
  address(
    'getaddressutxos',
    (answer, { native }) =>
      unspentInOrder((answer as readonly Members[]).map((output) => comparableUnspent(output, native))),
    async (ours, sample) => unspentInOrder(await unspentOf(ours, [sample])),
  ),
  {
    method: 'getidentity',
    samples: ofIdentities,
    async compare(ours, { client, height }, id) {
      const answer = await client.call('getidentity', [id, height]);
      return { asked: id, expected: canonical(answer, WALLET), ours: await identityOf(ours, id, height) };
    },
  },
  {
    method: 'getidentityhistory',
    samples: ofIdentities,
    async compare({ postgres, chain, root }, { client }, id) {
      const own = createIdentityHistory(
        (work) => work(poolRows(postgres)),
        (_, name) => nameToAddress(name, root),
      );
      const { history } = (await client.call('getidentityhistory', [id])) as { readonly history: unknown };
      const ours = await own(chain, [JSON.stringify(id)], SERVICE);
      return { asked: id, expected: canonical(history), ours: canonical(parsed(ours)) };
    },
  },
  transfers('getimports', getimports),
  transfers('getexports', getexports),
  {
    method: 'coinsupply',
    samples: async () => ['the tip'],
    async compare(ours, { client, height }, asked) {
      const answer = await client.call('coinsupply', []);
      return { asked, expected: canonical(answer), ours: canonical(await supplyAt(ours, height)) };
    },
  },
];

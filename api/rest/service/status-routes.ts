/** /api/stats/status: the service and its chains at a glance, served without waiting for a daemon. */
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { readAuditReport, type StoredReport } from '../../../infra/stored-json/audit-report.ts';
import type { ChainConfig } from '../../../schemas/config.ts';
import type { ApiContext } from '../../api-context.ts';
import { liveRoute } from '../../http/route.ts';
import { type PricedRows, pricedRows, provisionalMembers } from '../../state/priced-rows.ts';
import type { ServiceState } from '../../state/service-state.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { supplyAt } from '../../state/supply.ts';
import { type StampCounts, stampCounts } from '../conversions/stamp-counts.ts';
import { figuresAnswer } from '../network/chain-figures.ts';
import { serviceStatus } from '../network/schema.ts';
import { countTransactions } from './count-transactions.ts';

const ADDRESSES_SQL = 'SELECT uniq(chain, address) AS total FROM address_deltas WHERE chain IN {chains: Array(String)}';

const readTotal = rowReader({ total: columns.text });

const DEAD_LETTERS_SQL = 'SELECT chain, count(*) FROM dead_letters GROUP BY chain';
const readDeadLetters = rowReader({ chain: columns.text, count: columns.bigint });
const readReport = rowReader({ chain: columns.text, report: columns.text });

/** The number of addresses is an estimate with an error of some tenths of a percent, so it need not follow every block. */
const ADDRESSES_FRESH_MS = 600_000;

async function countAddresses({ clickhouse, config }: ApiContext): Promise<number> {
  const [row] = await clickhouse.rows(readTotal, ADDRESSES_SQL, { chains: config.chains.map(({ name }) => name) });
  return Number(row?.total ?? 0);
}

async function dataTotals(api: ApiContext, state: ServiceState, rows: PricedRows, { completed }: StampCounts) {
  const chains = api.config.chains.map(({ name }) => name);
  const epoch = String(Math.floor(Date.now() / ADDRESSES_FRESH_MS));
  return {
    addresses: await api.memo.get('addresses', epoch, () => countAddresses(api)),
    conversionsTotal: completed,
    transactions: await api.memo.get('transactions', state.tag, () => countTransactions(api, chains, state)),
    ...provisionalMembers(rows.provisionalSince(Number.POSITIVE_INFINITY)),
  };
}

async function auditReports(read: Snapshot): Promise<ReadonlyMap<string, StoredReport>> {
  const rows = await read.rows(readReport, 'SELECT chain, report FROM audits');
  return new Map(rows.map(({ chain, report }) => [chain, readAuditReport(report)]));
}

function auditAnswer(report: StoredReport | undefined) {
  if (!report) return { conversionsWithoutStamp: null, audit: null };
  const { conversionsWithoutStamp = null, ...audit } = report;
  return { conversionsWithoutStamp, audit };
}

async function deadLetters(read: Snapshot): Promise<ReadonlyMap<string, number>> {
  const rows = await read.rows(readDeadLetters, DEAD_LETTERS_SQL);
  return new Map(rows.map(({ chain, count }) => [chain, Number(count)]));
}

interface Seen {
  readonly state: ServiceState;
  /** Supply of a chain's own coin in satoshis, if the index knows it. */
  readonly supplies: ReadonlyMap<string, bigint>;
}

function chainStatus(api: ApiContext, chain: ChainConfig, { state, supplies }: Seen) {
  const indexedHeight = state.derived.get(chain.name)?.height ?? null;
  const tail = api.watch.statuses.of(chain.name, 'tail');
  const height = tail?.targetHeight ?? tail?.height ?? indexedHeight;
  const tip = indexedHeight ?? 0;
  const known = api.figures.lastKnown(chain, tip);
  const supply = supplies.get(chain.name) ?? api.figures.lastKnownSupply(chain, tip);
  return {
    height,
    indexedHeight,
    lag: height === null || indexedHeight === null ? null : Math.max(0, height - indexedHeight),
    ...figuresAnswer(known, supply),
    connections: known.connections,
    healthy: api.health.reasons(chain.name).length === 0,
  };
}

const status = liveRoute({
  path: '/api/stats/status',
  summary: 'State of the indexer, of its daemons and of each chain',
  parameters: {},
  response: serviceStatus,
  weight: 1,
  cache: 'none',
  async handler({ api }) {
    const { chains } = api.config;
    const seen = await api.snapshot(async (read) => {
      const supplies = new Map<string, bigint>();
      for (const [chain, { height }] of read.state.derived) {
        const supply = chains.some(({ name }) => name === chain) && (await supplyAt(read, api, chain, height));
        if (supply) supplies.set(chain, supply.transparent + supply.shielded);
      }
      const shown = { audits: await auditReports(read), letters: await deadLetters(read) };
      return { state: read.state, supplies, rows: await pricedRows(read, api), ...shown };
    });
    const { state, rows, audits, letters } = seen;
    const stamps = await stampCounts(api, state, rows);
    const statusOf = (chain: ChainConfig) => ({
      ...chainStatus(api, chain, seen),
      deadLetters: letters.get(chain.name) ?? 0,
      ...stamps.ofChain(chain.name),
      ...auditAnswer(audits.get(chain.name)),
    });
    const statuses = new Map(chains.map((chain) => [chain.name, statusOf(chain)]));
    const [main] = statuses.values();
    const derive = chains[0] && api.watch.statuses.of(chains[0].name, 'derive');
    return {
      body: {
        verusd: { chainHeight: main?.height ?? null, connections: main?.connections ?? null },
        data: await dataTotals(api, state, rows, stamps),
        indexer: { updatedAt: derive?.movedAt ?? null, state: derive?.state ?? null },
        chains: Object.fromEntries(statuses),
      },
    };
  },
});

export const serviceStatusRoutes = [status];

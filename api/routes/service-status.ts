/** /api/stats/status: the service and its chains at a glance. */
import type { AuditReport } from '../../schemas/audit-report.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { serviceStatus } from '../../schemas/rest/statistics.ts';
import type { ApiContext } from '../api-context.ts';
import { liveRoute } from '../http/route.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { whyStill } from '../state/stage-statuses.ts';
import { type Issued, issuedSupply } from '../state/supply.ts';
import { committedTick } from './committed-tick.ts';
import { miningFigures } from './network-stats.ts';

const ADDRESSES_SQL = 'SELECT uniq(chain, address) AS total FROM address_deltas';
const TRANSACTIONS_SQL = 'SELECT sum(tx_count) AS total FROM blocks';
const CONVERSIONS_SQL = `SELECT count() AS total FROM conversions
  WHERE generation = {generation: UInt32} AND tick <= {tick: UInt64} AND status = 'completed'`;

const DEAD_LETTERS_SQL = 'SELECT chain, count(*) FROM dead_letters GROUP BY chain';

/** The number of addresses is an estimate of a few tenths of a percent, so it need not follow every block. */
const ADDRESSES_FRESH_MS = 600_000;

async function total(api: ApiContext, sql: string, params: Record<string, unknown> = {}): Promise<number> {
  const [row] = await api.clickhouse.query<{ total: string }>(sql, params);
  return Number(row?.total ?? 0);
}

async function dataTotals(api: ApiContext, state: ServiceState, tick: string) {
  const epoch = String(Math.floor(Date.now() / ADDRESSES_FRESH_MS));
  return {
    addresses: await api.memo.get('addresses', epoch, () => total(api, ADDRESSES_SQL)),
    conversionsTotal: await api.memo.get('conversions', state.tag, () =>
      total(api, CONVERSIONS_SQL, { generation: state.generation, tick }),
    ),
    transactions: await api.memo.get('transactions', state.tag, () => total(api, TRANSACTIONS_SQL)),
  };
}

async function auditReports(read: Snapshot): Promise<ReadonlyMap<string, AuditReport>> {
  const rows = await read.rows<{ chain: string; report: string }>('SELECT chain, report FROM audits');
  return new Map(rows.map(({ chain, report }) => [chain, JSON.parse(report) as AuditReport]));
}

async function deadLetters(read: Snapshot): Promise<ReadonlyMap<string, number>> {
  const rows = await read.rows<{ chain: string; count: bigint }>(DEAD_LETTERS_SQL);
  return new Map(rows.map(({ chain, count }) => [chain, Number(count)]));
}

interface Seen {
  readonly state: ServiceState;
  readonly issued: ReadonlyMap<string, Issued>;
}

async function chainStatus(api: ApiContext, chain: ChainConfig, { state, issued }: Seen) {
  const indexedHeight = state.derived.get(chain.name)?.height ?? null;
  const tail = api.watch.statuses.of(chain.name, 'tail');
  const height = tail?.targetHeight ?? tail?.height ?? indexedHeight;
  const { figures, connections } = await miningFigures(
    api,
    chain,
    indexedHeight ?? 0,
    issued.get(chain.name) ?? (async () => null),
  );
  return {
    height,
    indexedHeight,
    lag: height === null || indexedHeight === null ? null : Math.max(0, height - indexedHeight),
    ...figures,
    connections,
    healthy: whyStill(chain, api.watch.statuses, Date.now()).length === 0,
  };
}

const status = liveRoute({
  path: '/api/stats/status',
  summary: 'State of the indexer, of its daemons and of each chain',
  parameters: {},
  response: serviceStatus,
  weight: 1,
  tier: null,
  cache: 'none',
  async handler({ api }) {
    const { chains } = api.config;
    const seen = await api.snapshot(async (read) => {
      const issued = new Map<string, Issued>();
      for (const [chain, { height }] of read.state.derived) {
        if (chains.some(({ name }) => name === chain)) issued.set(chain, await issuedSupply(read, api, chain, height));
      }
      const shown = { audits: await auditReports(read), letters: await deadLetters(read) };
      return { state: read.state, issued, tick: await committedTick(read), ...shown };
    });
    const { state, tick, audits, letters } = seen;
    const statuses = await Promise.all(chains.map((chain) => chainStatus(api, chain, seen)));
    const [main] = statuses;
    const derive = chains[0] && api.watch.statuses.of(chains[0].name, 'derive');
    return {
      body: {
        verusd: { chainHeight: main?.height ?? null, connections: main?.connections ?? null },
        data: await dataTotals(api, state, tick),
        indexer: { updatedAt: derive?.movedAt ?? null, state: derive?.state ?? null },
        chains: Object.fromEntries(
          chains.map(({ name }, index) => [
            name,
            { ...statuses[index], deadLetters: letters.get(name) ?? 0, audit: audits.get(name) ?? null },
          ]),
        ),
      },
    };
  },
});

export const serviceStatusRoutes = [status];

/** Digests of the served rows of one chain at one position, taken while the service keeps running. */
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { untilCancelled } from '../../infra/postgres/cancelled-statements.ts';
import { readStagePosition, type StagePosition } from '../../infra/postgres/stage-positions.ts';
import type { Stores } from '../../infra/stores.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { decodeBlocksRecord } from '../../schemas/log-codec.ts';
import { inSnapshot } from '../stage/snapshot.ts';
import { DERIVE_TABLES } from './digest-tables.ts';
import { type BeginTable, clickhouseDigests, type Digests, postgresDigests } from './store-digests.ts';

export interface ServedSnapshot {
  readonly at: StagePosition;
  readonly digests: Digests;
}

/** The chain was rewound during each attempt to read it. */
export class VerifyDisturbed extends RetryableError {
  constructor(chain: string) {
    super('verify_disturbed', `${chain} was rewound during each of ${ATTEMPTS} attempts; verify again later.`);
  }
}

const ATTEMPTS = 5;

/**
 * Reads position and rows of Postgres in one snapshot. ClickHouse has no snapshots: its rows up to that position count, and both stores
 * are read again if a rewind may have removed some of them meanwhile. Returns null before the first batch; `signal` cancels the
 * statements of Postgres.
 */
export async function servedSnapshot(
  stores: Stores,
  log: EventLog,
  chain: string,
  signal: AbortSignal,
  begin?: BeginTable,
): Promise<ServedSnapshot | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const postgres = await postgresSnapshot(stores, chain, signal, begin);
    if (!postgres) return null;
    const { position } = postgres.at;
    const clickhouse = await clickhouseDigests(stores.clickhouse, DERIVE_TABLES, { chain, position }, begin);
    const now = await readStagePosition(stores.postgres.pool, 'derive', chain);
    if ((now?.position ?? -1) < position) continue; // the chain is being derived again
    // A rewind is a batch of its own, so an uncommitted rewind is the next record.
    const rewound = await rewoundTo(log, chain, position + 1, (now?.position ?? position) + 1);
    if (rewound >= postgres.at.height) return { at: postgres.at, digests: { ...postgres.digests, ...clickhouse } };
  }
  throw new VerifyDisturbed(chain);
}

async function postgresSnapshot(
  { postgres }: Stores,
  chain: string,
  signal: AbortSignal,
  begin?: BeginTable,
): Promise<ServedSnapshot | null> {
  return inSnapshot(postgres, async (client) => {
    const at = await readStagePosition(client, 'derive', chain);
    if (!at) return null;
    const digests = () => postgresDigests(client, DERIVE_TABLES, { chain }, begin);
    return { at, digests: await untilCancelled(postgres.pool, client, signal, digests) };
  });
}

/** Returns the lowest height that a rewind among the records `from` … `to` rewinds to; Infinity without a rewind. */
async function rewoundTo(log: EventLog, chain: string, from: number, to: number): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let position = from; position <= to; ) {
    const records = await log.read('blocks', chain, position, { maxRecords: to - position + 1, maxBytes: 1 << 22 });
    if (records.length === 0) break;
    for (const { payload } of records) {
      const record = decodeBlocksRecord(payload);
      if (record.kind === 'rewind') lowest = Math.min(lowest, record.height);
    }
    position += records.length;
  }
  return lowest;
}

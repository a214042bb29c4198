/** Replaces the derive stage in tests: writes facts of synthetic or recorded blocks to a real log and a real Postgres. */
import type { ClickHouse } from '../../../../infra/clickhouse/clickhouse.ts';
import type { EventLog, LogWriter } from '../../../../infra/event-log/event-log.ts';
import type { Postgres } from '../../../../infra/postgres/postgres.ts';
import { hexParam } from '../../../../infra/postgres/values.ts';
import { insertFacts, rewindTo as rewindClickHouse } from '../../../../pipeline/sinks/clickhouse/clickhouse-sink.ts';
import { blockFactOf } from '../../../../pipeline/sinks/derived-block.ts';
import { factsByType } from '../../../../pipeline/sinks/facts-by-type.ts';
import { rewindTo, writeFacts } from '../../../../pipeline/sinks/postgres/postgres-sink.ts';
import { type Fact, PUBLISHED_FACTS } from '../../../../schemas/facts.ts';
import { encodeFactsRecord } from '../../../../schemas/log-codec.ts';
import type { FactsRecord } from '../../../../schemas/log-records.ts';

export interface FedBlock {
  readonly height: number;
  readonly hash: string;
  readonly facts: readonly Fact[];
}

export interface FactsFeed {
  /** Appends the blocks in one commit. */
  append(blocks: readonly FedBlock[]): Promise<void>;
  /** Rewinds to a block that was appended. */
  rewind(height: number): Promise<void>;
}

/** Only the facts that prices need are written, so that long chains are fast to feed. */
const WRITTEN: readonly Fact['type'][] = ['block', 'currency', 'currency_state', 'transfer'];

/** `clickhouse`: pass it if the test reads more than prices there. */
export async function createFactsFeed(
  log: EventLog,
  postgres: Postgres,
  chain: string,
  clickhouse?: ClickHouse,
): Promise<FactsFeed> {
  const writer: LogWriter = await log.openWriter('facts', chain);
  let branch: { readonly height: number; readonly hash: string; readonly clock: number }[] = [];

  async function commit(records: readonly FactsRecord[], work: Parameters<Postgres['transaction']>[0]): Promise<void> {
    const payloads = records.map((record) => ({ position: record.position, payload: encodeFactsRecord(record) }));
    await writer.append(payloads);
    await postgres.transaction(async (client) => {
      await work(client);
      const tip = branch.at(-1);
      if (!tip) return;
      await client.query(
        `INSERT INTO stage_positions VALUES ('derive', $1, $2, $3, $4, $5) ON CONFLICT (stage, chain) DO UPDATE
         SET position = EXCLUDED.position, height = EXCLUDED.height, hash = EXCLUDED.hash, clock = EXCLUDED.clock`,
        [chain, records.at(-1)?.source, tip.height, hexParam(tip.hash), tip.clock],
      );
    });
  }

  return {
    async append(blocks) {
      const { next } = writer;
      const derived = blocks.map(({ height, facts }, index) => {
        const written = facts.filter(({ type }) => WRITTEN.includes(type));
        return { position: next + index, height, block: blockFactOf(facts), facts: written };
      });
      const records = blocks.map(({ height, hash, facts }, index) => {
        const position = next + index;
        const published = facts.filter(({ type }) => PUBLISHED_FACTS.includes(type) && WRITTEN.includes(type));
        return { kind: 'facts' as const, position, source: position, height, hash, facts: published };
      });
      branch.push(...derived.map(({ height, block: { hash, clock } }) => ({ height, hash, clock })));
      const facts = factsByType(derived);
      if (clickhouse) await insertFacts(clickhouse, facts, { chain, nativeCurrencyId: '' });
      await commit(records, (client) => writeFacts(client, chain, facts));
    },

    async rewind(height) {
      const fromHeight = branch.at(-1)?.height ?? -1;
      branch = branch.filter((block) => block.height <= height);
      const hash = branch.at(-1)?.hash ?? '';
      const position = writer.next;
      if (clickhouse) await rewindClickHouse(clickhouse, chain, height, position);
      await commit([{ kind: 'rewind', position, source: position, height, hash, fromHeight }], (client) =>
        rewindTo(client, chain, height),
      );
    },
  };
}

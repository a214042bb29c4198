/**
 * Tables that could not be read. To find a wrong checksum takes the engine seconds to minutes of all its threads, since it tries
 * every single bit for the one that flipped, and nothing ends that: so statements on such a table are refused at once.
 */
import type { ClickHouseDamaged } from './clickhouse-errors.ts';

export interface KnownDamage {
  /** @throws ClickHouseDamaged when the statement names a table that cannot be read */
  check(sql: string): void;
  /** `tableOf` asks ClickHouse for the table of a uuid. */
  found(error: ClickHouseDamaged, tableOf: (uuid: string) => Promise<string | null>): Promise<void>;
  /** The statement has read the tables that it names. */
  read(sql: string): void;
  newest(): ClickHouseDamaged | null;
}

interface Damage {
  readonly error: ClickHouseDamaged;
  triedAt: number;
}

/** After this one statement may try again: a replica may have mended the table. */
const AGAIN_MS = 60_000;
/** In the path of a part. */
const UUID = /\/store\/[0-9a-f]{3}\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//;

export function createKnownDamage(now: () => number = () => performance.now()): KnownDamage {
  const tables = new Map<string, Damage>();

  function namedIn(sql: string): [string, Damage][] {
    if (tables.size === 0) return [];
    const words = new Set(sql.match(/\w+/g));
    return [...tables].filter(([table]) => words.has(table));
  }

  return {
    check(sql) {
      for (const [, damage] of namedIn(sql)) {
        if (now() - damage.triedAt < AGAIN_MS) throw damage.error;
        damage.triedAt = now();
      }
    },
    async found(error, tableOf) {
      const [, uuid] = UUID.exec(error.message) ?? [];
      const table = uuid === undefined ? null : await tableOf(uuid);
      if (table !== null) tables.set(table, { error, triedAt: now() });
    },
    read(sql) {
      for (const [table] of namedIn(sql)) tables.delete(table);
    },
    newest: () => [...tables.values()].at(-1)?.error ?? null,
  };
}

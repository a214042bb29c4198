/**
 * Tables that could not be read; statements on them are refused at once. After a wrong checksum the engine tries to find a flipped
 * bit by testing every bit, which occupies all its threads for seconds to minutes and cannot be cancelled.
 */
import type { ClickHouseDamaged } from './clickhouse-errors.ts';

export interface KnownDamage {
  /** @throws ClickHouseDamaged when the statement names a table that is known to be unreadable */
  check(sql: string): void;
  /** Records the damaged table; `tableOf` looks up the name of a table by its UUID. */
  found(error: ClickHouseDamaged, tableOf: (uuid: string) => Promise<string | null>): Promise<void>;
  /** Call after the statement succeeded: the tables that it names are readable again. */
  read(sql: string): void;
  newest(): ClickHouseDamaged | null;
}

interface Damage {
  readonly error: ClickHouseDamaged;
  triedAt: number;
}

/** After this time one statement may try again: a replica may have repaired the table. */
const AGAIN_MS = 60_000;
/** Matches the UUID of the table in the path of a part. */
const UUID = /\/store\/[0-9a-f]{3}\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//;

export function createKnownDamage(): KnownDamage {
  const tables = new Map<string, Damage>();

  function namedIn(sql: string): [string, Damage][] {
    if (tables.size === 0) return [];
    const words = new Set(sql.match(/\w+/g));
    return [...tables].filter(([table]) => words.has(table));
  }

  return {
    check(sql) {
      for (const [, damage] of namedIn(sql)) {
        if (performance.now() - damage.triedAt < AGAIN_MS) throw damage.error;
        damage.triedAt = performance.now();
      }
    },
    async found(error, tableOf) {
      const [, uuid] = UUID.exec(error.message) ?? [];
      const table = uuid === undefined ? null : await tableOf(uuid);
      if (table !== null) tables.set(table, { error, triedAt: performance.now() });
    },
    read(sql) {
      for (const [table] of namedIn(sql)) tables.delete(table);
    },
    newest: () => [...tables.values()].at(-1)?.error ?? null,
  };
}

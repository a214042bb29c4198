/** The client of ClickHouse, and settings in the text of a statement. */
import type { createClient } from '@clickhouse/client';

export type Client = ReturnType<typeof createClient>;

/** As SET and a statement take them. */
export function settingsList(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : `'${value}'`}`)
    .join(', ');
}

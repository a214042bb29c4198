/** The client of ClickHouse, and settings in the text of a statement. */
import type { createClient } from '@clickhouse/client';

export type Client = ReturnType<typeof createClient>;

/** Formats settings for SET and for the SETTINGS clause of a statement. */
export function settingsList(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : `'${value}'`}`)
    .join(', ');
}

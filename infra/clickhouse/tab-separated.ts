/** Reads answers as the text that COPY of Postgres reads, without creating an object for each row. */
import type { ExecParams } from '@clickhouse/client';
import type { Client } from './client.ts';

/** Otherwise a server would write an error into a response that it has begun; the embedded engine answers as a whole or fails. */
const OF_SERVER = { clickhouse_settings: { wait_end_of_query: 1 } } as const;

export async function readTabSeparated(
  client: Client,
  isOwn: boolean,
  sql: string,
  request: Omit<ExecParams, 'query'>,
) {
  const settings = isOwn ? {} : OF_SERVER;
  const { stream } = await client.exec({ query: `${sql} FORMAT TabSeparated`, ...request, ...settings });
  return (await stream.toArray()) as readonly Uint8Array[];
}

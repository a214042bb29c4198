/** Answers as the text that COPY of Postgres reads, without an object for each row. */
import type { ExecParams } from '@clickhouse/client';
import type { Client } from './client.ts';

type Request = Omit<ExecParams, 'query'>;

/** By the engine in this process, which answers at once or fails. */
export async function tabSeparatedHere(client: Client, sql: string, request: Request): Promise<readonly Uint8Array[]> {
  const { stream } = await client.exec({ query: `${sql} FORMAT TabSeparated`, ...request });
  return stream.toArray();
}

/** By a server, which otherwise would write an error into the answer that it has begun. */
export function tabSeparatedThere(client: Client, sql: string, request: Request): Promise<readonly Uint8Array[]> {
  return tabSeparatedHere(client, sql, { ...request, clickhouse_settings: { wait_end_of_query: 1 } });
}

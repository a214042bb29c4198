/** The bare selects by several clients at once, because one Node.js client reaches its own limit before Postgres does. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PointRead } from './point-reads.ts';

const CLIENTS = 3;
const SCRIPT = fileURLToPath(new URL('./select-client.ts', import.meta.url));

export const SEVERAL = `${CLIENTS} clients`;

/** Returns the reads per second of all clients together; they begin at the same moment. */
export async function selectsBySeveral(
  databaseUrl: string,
  chain: string,
  { path }: PointRead,
  seconds: number,
): Promise<number> {
  const clients = Array.from({ length: CLIENTS }, () => fork(SCRIPT, [databaseUrl, chain, path, String(seconds)]));
  await Promise.all(clients.map((client) => once(client, 'message')));
  const rates = clients.map(async (client) => {
    const rate = once(client, 'message');
    client.send('begin');
    return Number((await rate)[0]);
  });
  return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
}

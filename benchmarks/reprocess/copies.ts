/** Copies stamps from ClickHouse into Postgres as `reprocess` does, and by a bare COPY of the same rows. */
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import type { Stores } from '../../infra/stores.ts';
import { writeStamps } from '../../pipeline/reprocess/copy-stamps.ts';
import { writeProgress } from '../../pipeline/reprocess/progress.ts';
import { createStampCopies } from '../../pipeline/reprocess/stamp-copies.ts';
import { CHAINS, type Made } from './made-conversions.ts';

const MOST = 25_000;
const READY = { undone: 0 } as const;

/** Writes the newest tick of each chain, from which the copy knows how far the chains' clocks are. */
export async function standAt({ postgres }: Stores, { high, days }: Made): Promise<void> {
  await postgres.pool.query('TRUNCATE price_ticks');
  for (const [index, chain] of CHAINS.entries()) {
    await postgres.pool.query(
      `INSERT INTO price_ticks (tick, chain, height, hash, clock, facts_position) VALUES ($1, $2, 0, '', $3, 0)`,
      [high - index, chain, (days.get(chain) ?? 0) * SECONDS_PER_DAY],
    );
  }
}

export async function emptyStamps({ postgres }: Stores): Promise<void> {
  await postgres.pool.query('TRUNCATE stamps');
}

/** Copies generation 2, in the same transactions as `reprocess`. */
export async function copyAll(stores: Stores, { high }: Made): Promise<void> {
  const chains = CHAINS.map((name) => ({
    name,
    nativeCurrencyId: '',
    finalityDepth: 100,
    stableAnchors: [],
    minBasketAge: 0,
  }));
  const copies = createStampCopies({ generation: 2, chains, stores, most: MOST });
  for (let copied = -1; copied < high; ) {
    const progress = { ...READY, priced: high, stamped: high, newest: high, copied };
    await copies.next(progress, (stretch) =>
      stores.postgres.transaction(async (client) => {
        await writeStamps(client, stretch.text);
        await writeProgress(client, 2, { copied: stretch.high });
        copied = stretch.high;
      }),
    );
  }
}

/** Saves the content of the table in COPY's text format. */
export async function saveStamps({ postgres }: Stores, file: string): Promise<void> {
  await postgres.transaction(async (client) => {
    await pipeline(client.query(copyTo('COPY stamps TO STDOUT')), createWriteStream(file));
  });
}

export async function bareCopy({ postgres }: Stores, file: string): Promise<void> {
  await postgres.transaction(async (client) => {
    await pipeline(
      createReadStream(file, { highWaterMark: 1 << 18 }),
      client.query(copyFrom('COPY stamps FROM STDIN')),
    );
  });
}

export async function digestOfStamps({ postgres }: Stores): Promise<string> {
  const { rows } = await postgres.pool.query<{ digest: string }>(
    'SELECT count(*) || $1 || sum(hashtextextended(stamps::text, 0)) AS digest FROM stamps',
    [' '],
  );
  return rows[0]?.digest ?? '';
}

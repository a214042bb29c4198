/** Rewinds below finality that an operator has allowed, kept in Postgres so that a command in any process reaches the tailer. */

import type { BlockRef } from '../../domain/block-ref.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { postgresTrouble } from '../../infra/postgres/postgres-errors.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';

export interface AcceptedRewinds {
  /** Returns the newest allowed rewind of a chain as of the last poll: the same object until it expires or the operator repeats it. */
  of(chain: string): BlockRef | null;
  /**
   * Ends the permission `rewind`, an object that `of` returned, so that it allows no second rewind; not one that the operator gave
   * meanwhile. Returns whether it was still there: it may have expired, or another process may have taken it. @throws PostgresTrouble
   */
  take(chain: string, rewind: BlockRef): Promise<boolean>;
  close(): void;
}

/** Minutes after which a permission expires. */
export const ACCEPTED_MINUTES = 10;
const LOOK_MS = 2000;
/** The table is polled only if a tailer has asked within this time, which it does while a rewind below finality stops it. */
const ASKED_MS = 60_000;

const readAccepted = rowReader({
  chain: columns.text,
  height: columns.number,
  hash: columns.text,
  renewed: columns.text,
});

export function watchAcceptedRewinds(postgres: Postgres, logger: Logger): AcceptedRewinds {
  let allowed = new Map<string, { readonly renewed: string; readonly rewind: BlockRef }>();
  let askedAt = Number.NEGATIVE_INFINITY;
  /** Whether a poll has succeeded since tailers began to ask: earlier permissions may have expired. */
  let isKnown = false;
  const isAsked = () => performance.now() - askedAt < ASKED_MS;

  async function look(): Promise<void> {
    try {
      const rows = await readRows(
        postgres.pool,
        readAccepted,
        `SELECT chain, height, hash, created_at::text AS renewed FROM accepted_rewinds
         WHERE created_at > now() - make_interval(mins => $1) ORDER BY created_at`,
        [ACCEPTED_MINUTES],
      );
      const next: typeof allowed = new Map();
      for (const { chain, height, hash, renewed } of rows) {
        const known = allowed.get(chain);
        next.set(chain, known?.renewed === renewed ? known : { renewed, rewind: { height, hash } });
      }
      allowed = next;
      isKnown = true;
    } catch (err) {
      logger.warn({ err }, 'accepted rewinds could not be read; the next poll tries again');
    }
  }

  async function forget(chain: string, { height, hash }: BlockRef, renewed: string): Promise<boolean> {
    const sql = `DELETE FROM accepted_rewinds WHERE chain = $1 AND height = $2 AND hash = $3 AND created_at::text = $4
      AND created_at > now() - make_interval(mins => $5)`;
    const values = [chain, height, hexParam(hash), renewed, ACCEPTED_MINUTES];
    try {
      return (await postgres.pool.query(sql, values)).rowCount === 1;
    } catch (error) {
      throw postgresTrouble(error) ?? error;
    }
  }

  const timer = setInterval(() => {
    if (isAsked()) void look();
  }, LOOK_MS);
  timer.unref();
  return {
    of(chain) {
      if (!isAsked()) {
        isKnown = false;
        void look();
      }
      askedAt = performance.now();
      return isKnown ? (allowed.get(chain)?.rewind ?? null) : null;
    },
    async take(chain, rewind) {
      const known = allowed.get(chain);
      return known?.rewind === rewind && (await forget(chain, rewind, known.renewed));
    },
    close: () => clearInterval(timer),
  };
}

/** Allows one rewind of `chain` to exactly this block. */
export async function acceptRewind(postgres: Postgres, chain: string, { height, hash }: BlockRef): Promise<void> {
  await postgres.pool.query(
    `INSERT INTO accepted_rewinds (chain, height, hash) VALUES ($1, $2, $3)
     ON CONFLICT (chain, height, hash) DO UPDATE SET created_at = now()`,
    [chain, height, hexParam(hash)],
  );
}

/** Rewinds below finality that an operator allows, kept in Postgres so that any process's command reaches the tailer. */

import type { BlockRef } from '../../domain/block-ref.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';

export interface AcceptedRewinds {
  /** The newest allowed rewind of a chain, as last looked up: the same object for as long as it is allowed. */
  of(chain: string): BlockRef | null;
  close(): void;
}

/** Time after which an unused permission expires. */
export const ACCEPTED_MINUTES = 10;
const LOOK_MS = 2000;
/** The table is read only while a tailer has asked within this time: one does that stands before a rewind below finality. */
const ASKED_MS = 60_000;

const readAccepted = rowReader({ chain: columns.text, height: columns.number, hash: columns.text });

export function watchAcceptedRewinds(postgres: Postgres, logger: Logger): AcceptedRewinds {
  let allowed = new Map<string, BlockRef>();
  let askedAt = Number.NEGATIVE_INFINITY;
  /** Whether one has looked since the asking began: what was allowed before may have expired. */
  let isKnown = false;
  const isAsked = () => performance.now() - askedAt < ASKED_MS;

  async function look(): Promise<void> {
    try {
      const rows = await readRows(
        postgres.pool,
        readAccepted,
        `SELECT chain, height, hash FROM accepted_rewinds
         WHERE created_at > now() - make_interval(mins => $1) ORDER BY created_at`,
        [ACCEPTED_MINUTES],
      );
      const next = new Map<string, BlockRef>();
      for (const { chain, height, hash } of rows) {
        const known = allowed.get(chain);
        next.set(chain, known?.height === height && known.hash === hash ? known : { height, hash });
      }
      allowed = next;
      isKnown = true;
    } catch (err) {
      logger.warn({ err }, 'accepted rewinds could not be read; the next poll tries again');
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
      return isKnown ? (allowed.get(chain) ?? null) : null;
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

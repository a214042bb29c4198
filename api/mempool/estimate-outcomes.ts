/** Compares the last estimate of each waiting conversion with what the conversion then paid, for a metric. */
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { rowReader } from '../../infra/row-reader.ts';
import { shared } from '../../infra/shared.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import type { ApiContext } from '../api-context.ts';
import { type Estimates, estimatesOf } from './estimates.ts';
import type { MempoolJournal } from './journal.ts';
import { newestOf } from './newest.ts';
import { conversionsOf } from './print-transaction.ts';

interface Expected {
  readonly txid: string;
  readonly vout: number;
  readonly output: bigint;
}

const readOutcome = rowReader(storedColumns(DEFINITIONS.transfer, ['txid', 'vout', 'status', 'amountOut']));

/** Most mined conversions that await their import; the oldest are dropped first. */
const MOST_AWAITED = 10_000;
const OUTCOMES_SQL = `SELECT t.txid, t.vout, t.status, t.amount_out
  FROM unnest($2::bytea[], $3::integer[]) AS wanted(txid, vout)
  JOIN transfers t ON t.chain = $1 AND t.txid = wanted.txid AND t.vout = wanted.vout
  WHERE t.to_height IS NULL AND t.status IN ('completed', 'refunded', 'unmatched')`;

const keyOf = ({ txid, vout }: Pick<Expected, 'txid' | 'vout'>) => `${txid}:${vout}`;

/** Watches all mempools until the returned function is called. */
export function watchEstimates(api: ApiContext, logger: Logger): () => void {
  const stops = [...api.mempools.all()].map((journal) => watchChain(api, journal, logger));
  return () => {
    for (const stop of stops) stop();
  };
}

function watchChain(api: ApiContext, journal: MempoolJournal, logger: Logger): () => void {
  const { chain } = journal;
  const estimated = new Map<string, Expected>();
  const awaited = new Map<string, Expected>();
  let seen = journal.head;

  /** Moves the last estimate of each mined conversion to `awaited`; drops those of other conversions that left the mempool. */
  function passOn(): void {
    const changes = journal.after(seen);
    if (!changes) estimated.clear(); // the journal has dropped some changes; `keep` adds what still waits
    for (const { kind, entry } of changes ?? []) {
      if (kind !== 'gone') continue;
      for (const { txid, vout } of conversionsOf(entry.transaction)) {
        const key = keyOf({ txid, vout });
        const expected = estimated.get(key);
        estimated.delete(key);
        if (expected && entry.outcome?.reason === 'mined') awaited.set(key, expected);
      }
    }
    seen = journal.head;
    for (const key of awaited.keys()) {
      if (awaited.size <= MOST_AWAITED) break;
      awaited.delete(key);
    }
  }

  /** Stores the estimates of unconfirmed conversions. A mined conversion that the journal still lists keeps its earlier estimate. */
  function keep({ all }: Estimates): void {
    for (const { conversion, output } of all) {
      if (conversion.status !== 'unconfirmed' || output === null) continue;
      const { txid, vout } = conversion;
      estimated.set(keyOf(conversion), { txid, vout, output });
    }
  }

  async function compare(): Promise<void> {
    if (awaited.size === 0) return;
    const asked = [...awaited.values()];
    const values = [chain, asked.map(({ txid }) => hexParam(txid)), asked.map(({ vout }) => vout)];
    const rows = await api.snapshot((read) => read.rows(readOutcome, OUTCOMES_SQL, values));
    for (const row of rows) {
      const expected = awaited.get(keyOf(row));
      awaited.delete(keyOf(row));
      if (row.status !== 'completed' || !row.amount_out) metrics.estimateUnpaid.inc({ chain, status: row.status });
      else if (expected) {
        const error = Math.abs(Number(expected.output - row.amount_out)) / Number(row.amount_out);
        metrics.estimateError.observe({ chain }, error);
      }
    }
  }

  const look = shared(async () => {
    passOn();
    if (newestOf(journal).conversions.length > 0) keep(await estimatesOf(api, journal));
    await compare();
  });
  const onChange = () => {
    look().catch((err: unknown) => {
      const passes = err instanceof RetryableError;
      logger[passes ? 'debug' : 'error']({ err, chain }, 'estimates could not be compared with what was paid');
    });
  };
  const stops = [journal.onChange(onChange), api.watch.onMove(onChange)];
  return () => {
    for (const stop of stops) stop();
  };
}

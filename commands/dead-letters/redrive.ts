/** `dead-letters redrive`: derives a chain again from its oldest dead letter, or from a given block. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { readStagePosition } from '../../infra/postgres/stage-positions.ts';
import { columns, jsonReader, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import { isRedriven, requestRedrive } from '../../pipeline/derive/redrive.ts';
import { runDerive } from '../../pipeline/derive/run-derive.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { UsageError } from '../../schemas/errors.ts';
import { nativeCurrencyId } from '../../schemas/native-currency-id.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { configuredChain, wholeNumber } from '../arguments.ts';
import type { CommandOutcome, Output, StoreContext } from '../command.ts';
import type { InputOf } from '../command-table.ts';
import { createPacing, progressText } from '../progress-line.ts';

const POLL_MS = 200;

const OLDEST_SQL = 'SELECT min(height) AS height FROM dead_letters WHERE chain = $1';
const readOldest = rowReader({ height: columns.nullable(columns.number) });
const LEFT_SQL = 'SELECT count(*) AS left FROM dead_letters WHERE chain = $1 AND height >= $2';
const readLeft = rowReader({ left: columns.bigint });
const STATUS_SQL = `SELECT status FROM stage_status WHERE stage = 'derive' AND chain = $1`;
const readStatus = rowReader({ status: columns.text });
const readProgress = jsonReader(
  columns.object({
    height: columns.nullable(columns.number),
    targetHeight: columns.nullable(columns.number),
    rate: columns.number,
    etaSeconds: columns.nullable(columns.number),
  }),
);

/** Exit code 0 when no dead letter is left from the given block on. */
export async function run(
  context: StoreContext,
  input: InputOf<'dead-letters redrive'>,
  output: Output,
): Promise<CommandOutcome> {
  const { pool } = context.stores.postgres;
  const chain = configuredChain(context.config, input.chain);
  const from =
    input.height === undefined ? await oldestHeight(context, chain.name) : wholeNumber(input.height, 'height');
  const before = await readStagePosition(pool, 'derive', chain.name);
  if (!before) throw new UsageError(`${chain.name} is not derived yet: start the service first`);
  if (from === null) {
    output.line(`${chain.name} has no dead letters.`);
    return { exitCode: 0, state: { chain: chain.name, from: null, left: 0 } };
  }
  if (from > before.height)
    throw new UsageError(`${chain.name} is derived up to block ${before.height}: ${from} is above it`);
  const id = await requestRedrive(pool, chain.name, from);
  output.progress(`${chain.name} is being derived again from block ${from} on.`);
  const isDone = async (): Promise<boolean> =>
    (await isRedriven(pool, id)) &&
    ((await readStagePosition(pool, 'derive', chain.name))?.position ?? -1) >= before.position;
  await deriveUntil(context, chain, isDone, output.progress);
  const counted = await readRow(pool, readLeft, LEFT_SQL, [chain.name, from]);
  const left = Number(counted?.left ?? 0);
  output.line(left === 0 ? `${chain.name}: no dead letter is left.` : `${chain.name}: ${left} dead letters are left.`);
  return { exitCode: left === 0 ? 0 : 1, state: { chain: chain.name, from, left } };
}

/** The owner of the chain derives it: a service in any process, or this command if it gets the lock. */
async function deriveUntil(
  { stores, log, logger, signal: parent }: StoreContext,
  chain: ChainConfig,
  isDone: () => Promise<boolean>,
  print: (line: string) => void,
): Promise<void> {
  const end = new AbortController();
  const signal = AbortSignal.any([parent, end.signal]);
  let failure: unknown = null;
  let own: StageStatus | null = null;
  const deriving = runDerive({
    chain,
    nativeCurrencyId: nativeCurrencyId(chain),
    log,
    stores,
    logger,
    signal,
    status: (status) => {
      own = status;
    },
  }).catch((error: unknown) => {
    failure = error;
  });
  try {
    const isDue = createPacing();
    while (!(await isDone())) {
      if (failure) throw failure;
      parent.throwIfAborted();
      if (isDue()) print(await progress(stores, chain.name, own));
      await sleep(POLL_MS);
    }
  } finally {
    end.abort();
    await deriving;
  }
}

/** `own` is the status if this command derives; a service that derives instead reports its status in Postgres. */
async function progress({ postgres }: Stores, chain: string, own: StageStatus | null): Promise<string> {
  const stored = await readRow(postgres.pool, readStatus, STATUS_SQL, [chain]);
  const said = own ?? (stored ? readProgress(stored.status) : null);
  return said ? progressText(chain, said) : `${chain}  not started yet`;
}

async function oldestHeight({ stores }: StoreContext, chain: string): Promise<number | null> {
  return (await readRow(stores.postgres.pool, readOldest, OLDEST_SQL, [chain]))?.height ?? null;
}

/** `dead-letters`: what could not be decoded, and deriving it again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readStagePosition } from '../infra/postgres/stage-positions.ts';
import type { Stores } from '../infra/stores.ts';
import { askRedrive, isRedriven } from '../pipeline/derive/redrive.ts';
import { runDerive } from '../pipeline/derive/run-derive.ts';
import type { ChainConfig } from '../schemas/config.ts';
import { PermanentError } from '../schemas/errors.ts';
import { decodeBlocksRecord } from '../schemas/log-codec.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import type { StageStatus } from '../schemas/stage-status.ts';
import type { StoreContext } from './control-commands.ts';
import { DEAD_LETTERS_USAGE } from './dead-letters-usage.ts';

interface DeadLetterRow {
  readonly chain: string;
  readonly height: number;
  readonly ordinal: number;
  readonly scope: string;
  readonly txid: string | null;
  readonly n: number | null;
  readonly code: string;
  readonly message: string;
  readonly payload: string | null;
  readonly position: bigint;
}

type Print = (line: string) => void;

const HEIGHT = /^\d{1,9}$/;
const MOST_LISTED = 1000;
const POLL_MS = 200;
const PROGRESS_MS = 5000;

export async function printDeadLetters(
  context: StoreContext,
  [what = 'list', ...args]: readonly string[],
  print: Print,
  signal: AbortSignal,
): Promise<number> {
  const [name = '', height, ordinal] = args;
  const chain = context.config.chains.find((one) => one.name === name);
  if (what === 'list' && args.length <= 1 && (chain || name === '')) return list(context, chain?.name, print);
  const isPlace = [height, ordinal].every((text) => text === undefined || HEIGHT.test(text));
  if (chain && isPlace && what === 'show' && height) return show(context, name, Number(height), ordinal, print);
  if (chain && isPlace && what === 'redrive' && args.length <= 2) return redrive(context, chain, height, print, signal);
  const chains = context.config.chains.map((one) => one.name).join(', ');
  throw new PermanentError('usage', `Usage:\n${DEAD_LETTERS_USAGE}\nChains: ${chains}.`);
}

async function list({ config, stores }: StoreContext, only: string | undefined, print: Print): Promise<number> {
  const chains = config.chains.map(({ name }) => name).filter((name) => only === undefined || name === only);
  const { rows } = await stores.postgres.pool.query<DeadLetterRow & { total: bigint }>(
    `SELECT *, count(*) OVER () AS total FROM dead_letters WHERE chain = ANY($1)
     ORDER BY chain, height, ordinal LIMIT ${MOST_LISTED}`,
    [chains],
  );
  for (const row of rows) print(`${placeOf(row)}  ${row.code}: ${row.message}`);
  const total = Number(rows[0]?.total ?? 0);
  print(total > rows.length ? `${rows.length} of ${total} dead letters` : `${total} dead letters`);
  return 0;
}

async function show(
  { stores, log }: StoreContext,
  chain: string,
  height: number,
  ordinal: string | undefined,
  print: Print,
): Promise<number> {
  const { rows } = await stores.postgres.pool.query<DeadLetterRow>(
    `SELECT * FROM dead_letters WHERE chain = $1 AND height = $2 AND ($3::integer IS NULL OR ordinal = $3) ORDER BY ordinal`,
    [chain, height, ordinal ?? null],
  );
  if (rows.length === 0) throw new PermanentError('usage', `${chain} has no such dead letter at block ${height}.`);
  for (const row of rows) {
    print(`${placeOf(row)}  record ${row.position} of the log`);
    print(`${row.code}: ${row.message}`);
    if (row.payload !== null) print(row.payload);
  }
  // A large part stands in its block alone.
  const [{ position }] = rows as [DeadLetterRow];
  const [record] = rows.every(({ payload }) => payload !== null)
    ? []
    : await log.read('blocks', chain, Number(position), { maxRecords: 1, maxBytes: 1 });
  const block = record && decodeBlocksRecord(record.payload);
  if (block?.kind === 'block') print(Buffer.from(block.block).toString());
  return 0;
}

async function redrive(
  context: StoreContext,
  chain: ChainConfig,
  from: string | undefined,
  print: Print,
  signal: AbortSignal,
): Promise<number> {
  const { pool } = context.stores.postgres;
  const oldest = from === undefined ? await oldestHeight(context, chain.name) : Number(from);
  const before = await readStagePosition(pool, 'derive', chain.name);
  if (oldest === null || !before) {
    print(`${chain.name} has no dead letters.`);
    return 0;
  }
  const id = await askRedrive(pool, chain.name, oldest);
  print(`${chain.name} is derived again from block ${oldest} on.`);
  const isDone = async (): Promise<boolean> =>
    (await isRedriven(pool, id)) &&
    ((await readStagePosition(pool, 'derive', chain.name))?.position ?? -1) >= before.position;
  await deriveUntil(context, chain, isDone, print, signal);
  const { rows } = await pool.query<{ left: bigint }>(
    'SELECT count(*) AS left FROM dead_letters WHERE chain = $1 AND height >= $2',
    [chain.name, oldest],
  );
  const left = Number(rows[0]?.left ?? 0);
  print(left === 0 ? `${chain.name}: no dead letter is left.` : `${chain.name}: ${left} dead letters are left.`);
  return left === 0 ? 0 : 1;
}

/** Whoever owns the chain does it: a service that runs, wherever that is, or this command, which waits for its lock. */
async function deriveUntil(
  { stores, log, logger }: StoreContext,
  chain: ChainConfig,
  isDone: () => Promise<boolean>,
  print: Print,
  parent: AbortSignal,
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
    for (let printed = Date.now(); !(await isDone()); ) {
      if (failure) throw failure;
      parent.throwIfAborted();
      if (Date.now() - printed >= PROGRESS_MS) {
        printed = Date.now();
        print(await progress(stores, chain.name, own));
      }
      await sleep(POLL_MS);
    }
  } finally {
    end.abort();
    await deriving;
  }
}

/** `own` is what this command derives itself; where a service does, it says so in Postgres. */
async function progress({ postgres }: Stores, chain: string, own: StageStatus | null): Promise<string> {
  const { rows } = await postgres.pool.query<{ status: string }>(
    `SELECT status FROM stage_status WHERE stage = 'derive' AND chain = $1`,
    [chain],
  );
  const said = own ?? (rows[0] ? (JSON.parse(rows[0].status) as StageStatus) : null);
  if (!said) return `${chain}  not started yet`;
  const eta = said.etaSeconds === null ? '' : `, about ${Math.ceil(said.etaSeconds)} s to go`;
  return `${chain}  height ${said.height ?? '-'} of ${said.targetHeight ?? '-'}, ${said.rate.toFixed(0)} blocks/s${eta}`;
}

async function oldestHeight({ stores }: StoreContext, chain: string): Promise<number | null> {
  const { rows } = await stores.postgres.pool.query<{ height: number | null }>(
    'SELECT min(height) AS height FROM dead_letters WHERE chain = $1',
    [chain],
  );
  return rows[0]?.height ?? null;
}

function placeOf({ chain, height, ordinal, scope, txid, n }: DeadLetterRow): string {
  const part = scope === 'block' ? '' : ` ${txid ?? '(no txid)'}${n === null ? '' : `:${n}`}`;
  return `${chain}  ${height}/${ordinal}  ${scope}${part}`;
}

/**
 * Combines simultaneous reads with the same SQL into one statement, whose cost they share. A read waits for others only until
 * the requests that have already arrived are parsed. docs/decisions/0023-point-reads.md
 */
import pg from 'pg';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import { columns, rowReader, type StoredRow } from '../row-reader.ts';
import { prepared, type Statement } from './reader.ts';

/** Returns the rows of `sql` for its `values`. `version` is sent as the last value; reads share a statement only if it is equal. */
export type GatheredReads<Owner> = (
  sql: string,
  values: readonly unknown[],
  version: string,
  owner: Owner,
) => Promise<StoredRow[]>;

/** A reader that knows the owner of each read. */
export interface OwnedReader<Owner> {
  /** Chooses the owner of a statement that several reads share; by default the owner of the first read. */
  readonly ownerOf?: (owners: readonly [Owner, ...Owner[]]) => Owner;
  query(statement: Statement, values: readonly unknown[], owner: Owner): Promise<StoredRow[]>;
  parameterTypes(text: string, owner: Owner): Promise<readonly string[]>;
}

/** Returns the statement to send: the values of `sql` are $1 … $count, and the version is the next parameter. */
export type VersionGuard = (sql: string, count: number) => string;

interface Read<Owner> {
  readonly owner: Owner;
  readonly values: readonly unknown[];
  readonly version: string;
  readonly resolve: (rows: StoredRow[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Batches in flight for each SQL text: Postgres works on one while this process reads the rows of the other. */
const SENT_AT_ONCE = 2;
const MOST_TOGETHER = 32;
/** Rows that return together are processed together and delay all other work, so this bounds them: a few pages, or many single rows. */
const MOST_ROWS = 500;
/** Decay, for each read, of the largest number of rows seen. */
const FORGET = 0.95;
/** A batch that takes longer no longer delays the next ones. */
const SLOW_MS = 20;

const readPlace = rowReader({ asked_at: columns.number });

export function createGatheredReads<Owner>(reader: OwnedReader<Owner>, guard: VersionGuard): GatheredReads<Owner> {
  const queues = new Map<string, (read: Read<Owner>) => void>();
  return (sql, values, version, owner) =>
    new Promise((resolve, reject) => {
      const ask = getOrInsert(queues, sql, () => createQueue(reader, guard, sql, values.length));
      ask({ owner, values, version, resolve, reject });
    });
}

function createQueue<Owner>(
  reader: OwnedReader<Owner>,
  guard: VersionGuard,
  sql: string,
  count: number,
): (read: Read<Owner>) => void {
  const alone = prepared(guard(sql, count));
  let together: Promise<Statement> | null = null;
  let waiting: Read<Owner>[] = [];
  let sent = 0;
  /** Expected rows of a read: the largest recent number. */
  let rowsOfRead = 1;

  function learn(rows: number): void {
    rowsOfRead = Math.max(rows, 1, rowsOfRead * FORGET);
  }

  function statementForAll(owner: Owner): Promise<Statement> {
    together ??= reader.parameterTypes(alone.text, owner).then(
      (types) => prepared(guard(gatheredText(sql, types.slice(0, count)), count)),
      (error: unknown) => {
        together = null;
        throw error;
      },
    );
    return together;
  }

  async function readAlone({ owner, values, version, resolve, reject }: Read<Owner>): Promise<void> {
    await reader.query(alone, [...values, version], owner).then((rows) => {
      learn(rows.length);
      resolve(rows);
    }, reject);
  }

  async function readTogether(reads: readonly Read<Owner>[], first: Read<Owner>): Promise<void> {
    const { version } = first;
    const owner = reader.ownerOf?.([first.owner, ...reads.map((read) => read.owner)]) ?? first.owner;
    const statement = await statementForAll(owner);
    const values = Array.from({ length: count }, (_, at) => reads.map(({ values }) => textOf(values[at])));
    const found = await reader.query(statement, [...values, version], owner);
    const rows = reads.map((): StoredRow[] => []);
    for (const { asked_at, ...row } of found.map(readPlace)) rows[asked_at - 1]?.push(row);
    learn(Math.max(...rows.map(({ length }) => length)));
    for (const [at, { resolve }] of reads.entries()) resolve(rows[at] ?? []);
  }

  async function send(reads: readonly Read<Owner>[], first: Read<Owner>): Promise<void> {
    try {
      if (reads.length === 1 || count === 0) await Promise.all(reads.map(readAlone));
      else await readTogether(reads, first);
    } catch (error) {
      // The server refused the statement, perhaps for one of the reads, or it took too long: run each alone, so that each gets its own error.
      if (error instanceof pg.DatabaseError) await Promise.all(reads.map(readAlone));
      else for (const { reject } of reads) reject(error);
    }
  }

  /** Takes waiting reads that have the same version as the first. */
  function take({ version }: Read<Owner>): Read<Owner>[] {
    const most = Math.min(MOST_TOGETHER, Math.max(1, Math.floor(MOST_ROWS / rowsOfRead)));
    const taken: Read<Owner>[] = [];
    const left: Read<Owner>[] = [];
    for (const read of waiting) {
      (read.version === version && taken.length < most ? taken : left).push(read);
    }
    waiting = left;
    return taken;
  }

  function sendWaiting(): void {
    for (let [first] = waiting; first && sent < SENT_AT_ONCE; [first] = waiting) {
      const done = occupy();
      void send(take(first), first).finally(done);
    }
  }

  /** Takes a place in flight until the returned function is called or SLOW_MS have passed. */
  function occupy(): () => void {
    let occupied = true;
    const leave = () => {
      clearTimeout(slow);
      if (!occupied) return;
      occupied = false;
      sent--;
      sendWaiting();
    };
    const slow = setTimeout(leave, SLOW_MS);
    sent++;
    return leave;
  }

  return (read) => {
    waiting.push(read);
    if (waiting.length === 1) setImmediate(sendWaiting);
  };
}

/** One statement for any number of reads: each parameter is an array of texts with the values of all reads; each row names its read. */
function gatheredText(sql: string, types: readonly string[]): string {
  const columns = types.map((_, at) => `$${at + 1}::text[]`).join(', ');
  const names = types.map((_, at) => `v${at + 1}`).join(', ');
  const own = sql.replaceAll(/\$(\d+)/g, (_, number: string) => `gathered.v${number}::${types[Number(number) - 1]}`);
  // OFFSET 0 keeps the planner from merging the subquery into the join, so each read runs as it would alone and its rows keep their order.
  return `SELECT gathered.asked_at::integer, own.* FROM unnest(${columns}) WITH ORDINALITY AS gathered(${names}, asked_at)
    CROSS JOIN LATERAL (SELECT * FROM (${own}) AS own OFFSET 0) AS own`;
}

/** Formats a value as Postgres text. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  if (!Array.isArray(value))
    throw new TypeError('a parameter of a read is a string, a number, a boolean, or a list of those');
  const items = value.map((item) =>
    item === null ? 'NULL' : `"${String(item).replaceAll(/["\\]/g, String.raw`\$&`)}"`,
  );
  return `{${items.join(',')}}`;
}

/**
 * Streams a whole list as CSV or NDJSON by following cursors as a client would, each batch from its own snapshot. No row is repeated or
 * missed while blocks arrive, memory holds one batch, and a slow reader blocks nothing.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { ApiContext } from '../api-context.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { memoize } from '../state/memoize.ts';
import { type ApiError, parameterError } from './api-error.ts';
import { csvLine } from './csv.ts';
import { leadsBack } from './cursor.ts';
import { headerLines } from './header-lines.ts';
import { numbersAsText } from './numbers.ts';
import type { Reply } from './reply.ts';
import { type AnswerRows, HeadedValue, isStreamed, type StateRoute } from './route.ts';

export type StreamFormat = 'csv' | 'ndjson';

export const STREAM_TYPES: Readonly<Record<StreamFormat, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
};

const FORMATS = new Map<string, StreamFormat | null>([
  ['application/json', null],
  [STREAM_TYPES.csv, 'csv'],
  [STREAM_TYPES.ndjson, 'ndjson'],
]);

export interface StreamRequest {
  readonly accept: string;
  /** Charges credits while an answer is streamed. Returns null when they were available, else the refusal. */
  readonly charge: (credits: number) => Promise<ApiError | null>;
}

type Values = Readonly<Record<string, unknown>>;

/** Rows for each charge. The request's own charge, and the rest of it where JSON costs less, pay for the first thousand. */
const PAID_ROWS = 1000;
const CREDITS = 2;
/** Printed in one turn of the event loop. */
const PRINTED_ROWS = 200;
/** Credits return within two minutes, but other requests of the same payer may take them: the stream then ends the connection. */
const MOST_WAITS = 3;

/** Accept headers whose format is cached. */
const MEMOIZED = 200;

/** Returns the requested stream format; null for JSON. `format` decides, else the type in Accept with the highest quality, then the first. */
export function streamFormat(route: StateRoute, params: Values, accept: string): StreamFormat | null {
  if (!isStreamed(route)) return null;
  if (params.format !== undefined) return params.format === 'json' ? null : (params.format as StreamFormat);
  return accept === '' ? null : acceptedFormat(accept);
}

/** Memoized: clients send few different Accept headers. */
const acceptedFormat = memoize((accept: string): StreamFormat | null => {
  let best: { readonly format: StreamFormat | null; readonly quality: number } = { format: null, quality: 0 };
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...details] = range.split(';').map((part) => part.trim());
    const quality = Number(details.find((detail) => detail.startsWith('q='))?.slice(2) ?? 1);
    const format = FORMATS.get(type);
    if (format !== undefined && quality > best.quality) best = { format, quality };
  }
  return best.format;
}, MEMOIZED);

/** Where a list by pages has its rows. */
const LIST_ROWS: AnswerRows = { member: 'results', batch: { pageSize: 200 } };

const rowsOf = ({ rows = LIST_ROWS }: StateRoute) => rows;

/** Returns the names of the columns: the members of a row in the order of the schema. */
function columnsOf(route: StateRoute): string[] {
  const { member } = rowsOf(route);
  const shapes = route.response.anyOf ?? [route.response];
  const lists = shapes.map((shape) => (member === null ? shape : shape.properties?.[member]));
  const row: JsonSchema | undefined = lists.find((list) => list?.items)?.items;
  return Object.keys(row?.properties ?? {});
}

/** Reads the first batch before the answer begins, so that a refusal still gets its own status. */
export async function listStream(
  api: ApiContext,
  route: StateRoute,
  params: Values,
  format: StreamFormat,
  asked: StreamRequest,
  gone: AbortSignal,
): Promise<Reply> {
  if (params.page !== undefined) {
    throw parameterError('page', 'page is only for lists in JSON; a stream begins at the first row, or after cursor');
  }
  if (typeof params.cursor === 'string' && leadsBack(params.cursor)) {
    throw parameterError('cursor', 'a stream continues after nextCursor; prevCursor is only for pages in JSON');
  }
  const refusal = route.weight < CREDITS ? await asked.charge(CREDITS - route.weight) : null;
  if (refusal) throw refusal;
  const read = batchReader(api, route, params);
  const first = await read();
  const { Link: _, ...own } = first?.headers ?? {}; // links lead to pages
  const columns = columnsOf(route);
  const print = (row: unknown) => lineOf(format, columns, params.numbers === 'text' ? numbersAsText(row) : row);
  const stream = eachOf(textReader(format === 'csv' ? csvLine(columns) : '', print, first, read, { ...asked, gone }));
  const contentType = `${STREAM_TYPES[format]}; charset=utf-8`;
  return {
    status: 200,
    headers: headerLines({ 'Content-Type': contentType, 'Cache-Control': 'no-store', Vary: 'Accept', ...own }),
    body: null,
    stream,
  };
}

type Rows = readonly unknown[];

interface Batch {
  readonly rows: Rows;
  /** Headers of the answer that the rows are from. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns null after the last item. Readers keep no item that they have returned: an answer that waits for its client keeps only its text. */
type Next<T> = () => Promise<T | null>;

function batchReader(api: ApiContext, route: StateRoute, params: Values): Next<Batch> {
  const { member, batch } = rowsOf(route);
  let { cursor } = params;
  let isOver = false;
  return async () => {
    if (isOver) return null;
    const asked = { ...params, ...batch, ...(cursor !== undefined && { cursor }) };
    const made = await api.snapshot((read) => route.handler({ params: asked as never, api, read, rowsAlone: true }));
    const whole = typeof made === 'function' ? await made() : made;
    const { value, headers } = whole instanceof HeadedValue ? whole : { value: whole, headers: {} };
    const rows = (member === null ? value : value[member]) as Rows;
    cursor = batch ? (value.nextCursor ?? undefined) : undefined;
    isOver = cursor === undefined;
    return { rows, headers };
  };
}

/** Pays for and returns text by thousands of rows: a list without a cursor is a single batch, however many rows it has. */
function textReader(
  head: string,
  print: (row: unknown) => string,
  first: Batch | null,
  read: Next<Batch>,
  asked: Payer,
): Next<Uint8Array> {
  let waiting = first;
  let before = head;
  let paid = PAID_ROWS;
  const printed: Piece[] = [];
  return async () => {
    if (asked.gone.aborted) return null;
    if (printed.length === 0) {
      const batch = waiting ?? (await read());
      waiting = null;
      if (!batch) return null;
      printed.push(...(await piecesOf(batch.rows, before, print)));
      before = '';
    }
    const { rows, text } = printed.shift() as Piece;
    paid -= rows;
    if (paid < 0) {
      if (!(await hasPaid(asked))) return null;
      paid += PAID_ROWS;
    }
    return text;
  };
}

interface Piece {
  readonly rows: number;
  /** A part of its batch's text. The whole text stays in memory until its last part is sent, and writeStream counts all of it. */
  readonly text: Uint8Array;
}

/** Prints pieces of PAID_ROWS rows, in turns of the event loop; at least one piece, because `head` is sent even without rows. */
async function piecesOf(rows: Rows, head: string, print: (row: unknown) => string): Promise<Piece[]> {
  const texts: string[] = [];
  for (let from = 0; from === 0 || from < rows.length; from += PAID_ROWS) {
    const lines = from === 0 ? [head] : [];
    const end = Math.min(from + PAID_ROWS, rows.length);
    for (let at = from; at < end; at += PRINTED_ROWS) {
      if (at > 0) await nextTurn();
      lines.push(...rows.slice(at, Math.min(at + PRINTED_ROWS, end)).map(print));
    }
    texts.push(lines.join(''));
  }
  const whole = Buffer.from(texts.join(''));
  let end = 0;
  return texts.map((text, index) => {
    const begin = end;
    end += Buffer.byteLength(text);
    return { rows: Math.min(PAID_ROWS, rows.length - index * PAID_ROWS), text: whole.subarray(begin, end) };
  });
}

async function* eachOf<T>(next: Next<T>): AsyncGenerator<T, undefined> {
  for (let item = await next(); item !== null; item = await next()) yield item;
}

function lineOf(format: StreamFormat, columns: readonly string[], row: unknown): string {
  if (format === 'ndjson') return `${stringifyExact(row)}\n`;
  return csvLine(columns.map((column) => (row as Record<string, unknown>)[column]));
}

interface Payer extends Pick<StreamRequest, 'charge'> {
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
}

/**
 * Waits for credits to return; false when the client disconnects meanwhile.
 * @throws ApiError when they do not return, and at once when waiting cannot help: the key was revoked, or its allowance is too small
 */
async function hasPaid({ charge, gone }: Payer): Promise<boolean> {
  for (let waits = 0; !gone.aborted; waits++) {
    const refusal = await charge(CREDITS);
    if (!refusal) return true;
    const retryAfter = refusal.details.members?.retryAfter;
    if (waits === MOST_WAITS || retryAfter === undefined) throw refusal;
    const wait = sleep(Number(retryAfter) * 1000, undefined, { signal: gone });
    await wait.catch(() => undefined); // its only error is that the client has left
  }
  return false;
}

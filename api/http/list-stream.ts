/**
 * A whole list as CSV or NDJSON: the walk by cursor that a client would do, batch after batch, each from a snapshot of its
 * own. So no row comes twice or is missed while blocks arrive, memory holds one batch, and a slow reader holds up nothing.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { ApiContext } from '../api-context.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { memoize } from '../state/memoize.ts';
import { ApiError } from './api-error.ts';
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
  /** Takes credits while an answer flows; null when they were there. */
  readonly charge: (credits: number) => Promise<ApiError | null>;
}

type Values = Readonly<Record<string, unknown>>;

/** The first thousand rows are paid by the request itself. */
const PAID_ROWS = 1000;
const CREDITS = 2;
/** Printed in one turn of the event loop. */
const PRINTED_ROWS = 200;
/** Two minutes at most bring credits back, but others of the same payer may take them: then the client is disconnected. */
const MOST_WAITS = 3;

/** Texts of Accept that are kept. */
const MEMOIZED = 200;

/** Requested stream format, or null for pages. `format` decides; without it, the type in Accept of the highest quality, then the first. */
export function streamFormat(route: StateRoute, params: Values, accept: string): StreamFormat | null {
  if (!isStreamed(route)) return null;
  if (params.format !== undefined) return params.format === 'json' ? null : (params.format as StreamFormat);
  return accept === '' ? null : acceptedFormat(accept);
}

/** Clients send few different ones. */
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

/** Rows of a list by pages. */
const LIST_ROWS: AnswerRows = { member: 'results', batch: { pageSize: 200 } };

const rowsOf = ({ rows = LIST_ROWS }: StateRoute) => rows;

/** Names of the columns: the members of a row in the order of the schema. */
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
    const detail = 'page is of lists in JSON; a stream begins at the first row, or after cursor';
    throw new ApiError('invalid_parameter', detail, { errors: [{ pointer: '/page', detail }] });
  }
  if (typeof params.cursor === 'string' && leadsBack(params.cursor)) {
    const detail = 'a stream goes on after nextCursor; prevCursor is of pages in JSON';
    throw new ApiError('invalid_parameter', detail, { errors: [{ pointer: '/cursor', detail }] });
  }
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
  /** The headers of the answer that it is of. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Null after the last one. Neither this nor `textReader` keeps what it has returned: an answer that is waited for keeps its text alone. */
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

/** A list without a cursor comes as one batch, however many rows it has: its text is paid and goes out by thousands of them. */
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
  /** A part of the text of its batch: that stays in memory up to its last part, and is counted whole by whoever writes it. */
  readonly text: Uint8Array;
}

/** Each of PAID_ROWS rows, printed in turns; at least one, since `head` comes without rows too. */
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
  /** Aborts when the client leaves. */
  readonly gone: AbortSignal;
}

/**
 * Waits for credits that come back; false when the client leaves meanwhile.
 * @throws ApiError when they do not come back, and at once when no wait helps: a key that was revoked, one that has too few
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

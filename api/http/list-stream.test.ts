import type { HttpResponse } from 'uWebSockets.js';
import { expect, it } from 'vitest';
import { collectGarbage } from '../../test/support/collect-garbage.ts';
import type { ApiContext } from '../api-context.ts';
import { array, integer, nullableString, object } from '../schema/json-schema.ts';
import type { AnsweredClient } from './answered-client.ts';
import { ApiError } from './api-error.ts';
import { NO_LINES } from './header-lines.ts';
import { listStream, streamFormat } from './list-stream.ts';
import { pageParameters } from './paging.ts';
import type { Reply } from './reply.ts';
import { type StateRoute, stateRoute } from './route.ts';
import { createUnsentAnswers } from './unsent-answers.ts';
import { writeStream } from './write-stream.ts';

const api = { snapshot: (work: (read: unknown) => unknown) => Promise.resolve(work({})) } as unknown as ApiContext;

const stays = new AbortController().signal;

/** A list of `total` rows by cursor; `read` counts the rows that have been requested. */
function numbers(total: number) {
  const counted = { read: 0 };
  const route = stateRoute({
    path: '/numbers',
    summary: 'Numbers',
    parameters: pageParameters,
    response: object({ results: array(object({ n: integer })), nextCursor: nullableString }),
    weight: 2,
    cache: 'state',
    scope: 'all',
    async handler({ params }) {
      const start = Number(params.cursor ?? 0);
      const end = Math.min(start + params.pageSize, total);
      counted.read = end;
      const results = Array.from({ length: end - start }, (_, index) => ({ n: start + index }));
      return { results, nextCursor: end < total ? String(end) : null };
    },
  });
  return { route, counted };
}

async function asText({ stream = nothing() }: Reply): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

it('costs two credits for each thousand rows after the first, charged while they are streamed', async () => {
  const { route, counted } = numbers(4100);
  const charged: number[] = [];
  const charge = async (credits: number) => {
    charged.push(counted.read);
    return credits === 2 ? null : new ApiError('rate_limited', 'no');
  };
  const reply = await listStream(api, route, {}, 'csv', { accept: '', charge }, stays);
  expect(counted.read).toBe(200);
  const lines = (await asText(reply)).split('\r\n');
  expect([lines.length, lines[0], lines[1], lines[4100], lines[4101]]).toEqual([4102, 'n', '0', '4099', '']);
  expect(charged).toEqual([1200, 2200, 3200, 4100]);
});

/** All rows in one answer, without a cursor; `printed` counts the rows that have been printed. */
function whole(total: number, weight: 1 | 2 = 2) {
  const counted = { printed: 0 };
  const row = (n: number) => ({
    get n() {
      counted.printed++;
      return n;
    },
  });
  const route = stateRoute({
    path: '/whole',
    summary: 'Numbers',
    parameters: {},
    response: array(object({ n: integer })),
    rows: { member: null },
    weight,
    cache: 'state',
    scope: 'all',
    handler: async () => Array.from({ length: total }, (_, n) => row(n)),
  });
  return { route, counted };
}

it.each([
  [1000, 0],
  [1001, 1],
  [10_000, 9],
  [10_001, 10],
])(
  '%i rows in one answer are charged like those of a list by cursor, each thousand before it is sent',
  async (total, times) => {
    let lines = 0;
    const charged: (readonly [credits: number, lines: number])[] = [];
    const charge = async (credits: number) => {
      charged.push([credits, lines]);
      return null;
    };
    const { stream } = await listStream(api, whole(total).route, {}, 'csv', { accept: '', charge }, stays);
    for await (const text of stream ?? nothing()) lines += Buffer.from(text).toString().split('\r\n').length - 1;
    expect(lines).toBe(total + 1);
    expect(charged).toEqual(Array.from({ length: times }, (_, index) => [2, 1001 + 1000 * index]));
  },
);

it('costs two credits also where JSON costs one, charged before the answer is made', async () => {
  const { route, counted } = whole(3, 1);
  const charged: (readonly [credits: number, printed: number])[] = [];
  const charge = async (credits: number) => {
    charged.push([credits, counted.printed]);
    return null;
  };
  await asText(await listStream(api, route, {}, 'csv', { accept: '', charge }, stays));
  expect(charged).toEqual([[1, 0]]);
  const none = async () => new ApiError('rate_limited', 'no');
  await expect(listStream(api, route, {}, 'csv', { accept: '', charge: none }, stays)).rejects.toThrow('no');
});

it('rows in one answer are not charged once the client has left', async () => {
  let charges = 0;
  const charge = async () => {
    charges += 1;
    return null;
  };
  const reply = await listStream(api, whole(54_000).route, {}, 'csv', { accept: '', charge }, stays);
  const socket = narrowSocket();
  const connection: AnsweredClient = { aborted: false, onGone: () => {} };
  const writing = writeStream(socket.res, HEAD, NO_LINES, reply.stream ?? nothing(), connection, unsent, {
    network: '',
  });
  await expect.poll(() => socket.written.length, { timeout: 60_000 }).toBe(1);
  expect(charges).toBe(0);
  connection.aborted = true;
  connection.onGone();
  await writing;
  expect(charges).toBeLessThanOrEqual(1);
});

it('the whole text counts as held until its last part is sent, also while that part waits to be paid', async () => {
  const kept: number[] = [];
  const atCharges: (number | undefined)[] = [];
  const charge = async () => {
    atCharges.push(kept.at(-1));
    return null;
  };
  const reply = await listStream(api, whole(3000).route, {}, 'csv', { accept: '', charge }, stays);
  const held = { keep: (bytes: number) => void kept.push(bytes), release: () => {} };
  const socket = narrowSocket();
  const client: AnsweredClient = { aborted: false, onGone: () => {} };
  const counting = { hold: () => held, endsConnection: () => false };
  let isWritten = false;
  const writing = writeStream(socket.res, HEAD, NO_LINES, reply.stream ?? nothing(), client, counting, {
    network: '',
  }).then(() => {
    isWritten = true;
  });
  while (!isWritten) {
    socket.drain();
    await turn();
  }
  await writing;
  const bytes = Buffer.byteLength(socket.written.slice(0, -1).join(''));
  expect(bytes).toBeGreaterThan(13_000);
  expect(atCharges).toEqual([bytes, bytes]);
  expect([...new Set(kept)].sort()).toEqual([0, bytes]);
});

it('rows in one answer are printed in turns of the event loop', async () => {
  const { route, counted } = whole(10_000);
  const { stream } = await listStream(
    api,
    route,
    { numbers: 'text' },
    'ndjson',
    {
      accept: '',
      charge: async () => null,
    },
    stays,
  );
  let isOver = false;
  const text = asText({ ...HEAD, stream: stream ?? nothing() }).finally(() => {
    isOver = true;
  });
  const steps: number[] = [];
  for (let before = 0; !isOver; before = counted.printed) {
    await turn();
    steps.push(counted.printed - before);
  }
  expect((await text).split('\n')[9_999]).toBe('{"n":"9999"}');
  expect(Math.max(...steps)).toBeLessThanOrEqual(400);
});

it('waits for credits to return, and ends in the middle when they do not', async () => {
  const { route } = numbers(1300);
  const refusal = new ApiError('rate_limited', 'used up', { members: { retryAfter: 0.001 } });
  let refusals = 2;
  const late = await listStream(
    api,
    route,
    {},
    'ndjson',
    {
      accept: '',
      charge: async () => (refusals-- > 0 ? refusal : null),
    },
    stays,
  );
  expect((await asText(late)).split('\n').length).toBe(1301);
  const never = await listStream(api, route, {}, 'ndjson', { accept: '', charge: async () => refusal }, stays);
  await expect(asText(never)).rejects.toThrow('used up');
});

it('a client that leaves while the stream waits for credits is not charged again', async () => {
  const client = new AbortController();
  let charges = 0;
  const refusal = new ApiError('rate_limited', 'used up', { members: { retryAfter: 600 } });
  const charge = async () => {
    charges += 1;
    setImmediate(() => client.abort());
    return refusal;
  };
  const { route, counted } = numbers(5000);
  const reply = await listStream(api, route, {}, 'ndjson', { accept: '', charge }, client.signal);
  expect((await asText(reply)).split('\n').length).toBe(1001);
  expect(charges).toBe(1);
  expect(counted.read).toBe(1200);
});

it('ends at once when waiting cannot help', async () => {
  const revoked = new ApiError('key_invalid', 'revoked');
  let charges = 0;
  const charge = async () => {
    charges += 1;
    return revoked;
  };
  const ended = await listStream(api, numbers(1300).route, {}, 'ndjson', { accept: '', charge }, stays);
  await expect(asText(ended)).rejects.toThrow('revoked');
  expect(charges).toBe(1);
});

it.each([
  ['', null],
  ['*/*', null],
  ['text/csv', 'csv'],
  ['Application/X-NDJSON; charset=utf-8', 'ndjson'],
  ['text/csv, application/json', 'csv'],
  ['application/json, text/csv', null],
  ['text/csv;q=0.1, application/json', null],
  ['application/json;q=0.1, text/csv; q=0.5', 'csv'],
  ['text/csv;q=0', null],
] as const)('Accept: %s → %s', (accept, format) => {
  expect(streamFormat(numbers(1).route as StateRoute, {}, accept)).toBe(format);
});

/** A socket that is full after each write; `drain` makes room for one more piece, of up to 1024 bytes. */
function narrowSocket() {
  const written: string[] = [];
  let hasRoom = false;
  let writable = () => {};
  let closed = false;
  const res = {
    cork: (work: () => void) => work(),
    writeStatus: () => res,
    writeHeader: () => res,
    onWritable: (handler: () => void) => {
      writable = handler;
    },
    write: (chunk: Uint8Array) => {
      written.push(Buffer.from(chunk).toString());
      const isTaken = hasRoom && chunk.byteLength <= 1024;
      hasRoom = false;
      return isTaken;
    },
    end: (rest: Uint8Array) => written.push(Buffer.from(rest).toString(), 'END'),
    close: () => {
      closed = true;
    },
  };
  const drain = () => {
    hasRoom = true;
    writable();
  };
  const wake = () => writable();
  return { res: res as unknown as HttpResponse, written, drain, wake, isClosed: () => closed };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const unsent = createUnsentAnswers();
const HEAD = { status: 200, headers: NO_LINES, body: null };

it('no rows are read ahead of a slow reader, and none after it has left', async () => {
  const { route, counted } = numbers(100_000);
  const reply = await listStream(api, route, {}, 'ndjson', { accept: '', charge: async () => null }, stays);
  const socket = narrowSocket();
  const connection: AnsweredClient = { aborted: false, onGone: () => {} };
  const writing = writeStream(socket.res, HEAD, NO_LINES, reply.stream ?? nothing(), connection, unsent, {
    network: '',
  });
  for (let n = 0; n < 20; n++) await turn();
  expect([socket.written.length, counted.read]).toEqual([1, 200]);
  for (let drained = 1; drained <= 5; drained++) {
    socket.drain();
    for (let n = 0; n < 20; n++) await turn();
    expect([socket.written.length, counted.read]).toEqual([2 * drained + 1, 200 * (drained + 1)]);
  }
  connection.aborted = true;
  connection.onGone();
  await writing;
  expect(counted.read).toBeLessThanOrEqual(1400);
});

it('a failing stream ends the connection in the middle of the body', async () => {
  const socket = narrowSocket();
  const connection: AnsweredClient = { aborted: false, onGone: () => {} };
  const failing = (async function* () {
    yield Buffer.alloc(100, 'row ');
    throw new ApiError('cursor_rewound', 'gone');
  })();
  const writing = writeStream(socket.res, HEAD, NO_LINES, failing, connection, unsent, { network: '' });
  const failed = expect(writing).rejects.toThrow('gone');
  for (let n = 0; n < 5; n++) await turn();
  socket.drain();
  await failed;
  expect([socket.written, socket.isClosed()]).toEqual([['row '.repeat(21)], true]);
});

it('a stream ends only when all but its last bytes have been taken', async () => {
  const socket = narrowSocket();
  const connection: AnsweredClient = { aborted: false, onGone: () => {} };
  const row = Buffer.from('a row of some thirty characters');
  const rows = (async function* () {
    yield row;
  })();
  let isEnded = false;
  const writing = writeStream(socket.res, HEAD, NO_LINES, rows, connection, unsent, { network: '' }).then(() => {
    isEnded = true;
  });
  for (let attempt = 0; attempt < 5; attempt++) {
    for (let n = 0; n < 5; n++) await turn();
    socket.wake();
  }
  expect([isEnded, socket.written.length]).toEqual([false, 5]);
  socket.drain();
  await writing;
  expect(socket.written.join('')).toBe(`${row}END`);
});

it('a stream that waits for its reader keeps only its text, not the rows', async () => {
  const answers: WeakRef<object>[] = [];
  const { route } = numbers(1_000);
  const watched = {
    ...route,
    handler: async (asked: Parameters<typeof route.handler>[0]) => {
      const answer = await route.handler(asked);
      answers.push(new WeakRef(answer as object));
      return answer;
    },
  } as StateRoute;
  const { stream } = await listStream(api, watched, {}, 'ndjson', { accept: '', charge: async () => null }, stays);
  const chunks = (stream ?? nothing())[Symbol.asyncIterator]();
  for (let batch = 1; batch <= 3; batch++) {
    expect((await chunks.next()).value?.byteLength).toBeGreaterThan(1_000);
    await turn();
    collectGarbage();
    expect(answers.map((answer) => answer.deref())).toEqual(Array(batch).fill(undefined));
  }
});

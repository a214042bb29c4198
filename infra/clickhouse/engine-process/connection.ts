/** A connection to the engine's process, for use by the ClickHouse client. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { type ClickHouseSettings, createClient, parseError } from '@clickhouse/client';
import type { Client } from '../client.ts';
import { type Frame, onFrames, writeFrame } from './frames.ts';
import { type EngineStatement, formatParameter } from './statement.ts';

export interface EngineAnswer {
  /** The engine's message, for a statement that failed. */
  readonly error?: string;
}

interface ClientRequest {
  readonly query: string;
  readonly query_params?: Readonly<Record<string, unknown>>;
  readonly clickhouse_settings?: ClickHouseSettings;
  readonly query_id?: string;
  readonly values?: string | Readable;
}

/** Settings that the client sends to servers and the engine does not know. */
const OF_SERVERS = new Set(['wait_end_of_query', 'enable_http_compression']);

const PIECE_BYTES = 1 << 15;

interface Waiting {
  readonly resolve: (frame: Frame<EngineAnswer>) => void;
  readonly reject: (error: Error) => void;
}

/** @throws Error with the code of the socket's error; statements throw one with code ECONNRESET when the process ends */
export async function connectToEngine(path: string): Promise<Client> {
  const socket = connect(path);
  await once(socket, 'connect');
  /** Statements without an answer yet; answers arrive in this order. */
  let waiting: Waiting[] = [];
  let failure: Error | null = null;
  let lastAnswer: Promise<unknown> = Promise.resolve();
  onFrames<EngineAnswer>(socket, (frame) => waiting.shift()?.resolve(frame));
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('close', () => {
    for (const { reject } of waiting) reject(connectionReset(failure));
    waiting = [];
  });
  socket.unref(); // a forgotten close() must not keep the program alive

  async function run({ query, query_params, clickhouse_settings, query_id, values }: ClientRequest) {
    const statement: EngineStatement = {
      sql: query,
      params: textsOf(query_params ?? {}, formatParameter),
      settings: textsOf(clickhouse_settings ?? {}, String),
    };
    const rows = typeof values === 'string' ? [Buffer.from(values)] : ((await values?.toArray()) ?? []);
    const isEmpty = values !== undefined && rows.every(({ length }) => length === 0);
    const body = isEmpty ? Buffer.alloc(0) : await ask(statement, rows.map(bytesOf));
    return { stream: Readable.from(piecesOf(body)), query_id: query_id ?? randomUUID(), response_headers: {} };
  }

  async function ask(statement: EngineStatement, rows: readonly Uint8Array[]): Promise<Buffer> {
    if (socket.destroyed) throw connectionReset(failure);
    socket.ref();
    try {
      const answer = new Promise<Frame<EngineAnswer>>((resolve, reject) => {
        writeFrame(socket, statement, rows);
        waiting.push({ resolve, reject }); // after writeFrame, which may throw
      });
      lastAnswer = answer;
      const { head, body } = await answer;
      if (head.error !== undefined) throw parseError(head.error);
      return body;
    } finally {
      if (waiting.length === 0) socket.unref();
    }
  }

  const connection = {
    query: run,
    exec: run,
    command: run,
    insert: run,
    async close() {
      await lastAnswer.catch(() => undefined); // the caller of the statement gets the error
      socket.destroySoon();
    },
  };
  // createClient accepts a custom connection, which its types do not declare.
  return createClient({ connection } as unknown as Parameters<typeof createClient>[0]);
}

function connectionReset(cause: Error | null): Error {
  return Object.assign(new Error('the process of the embedded ClickHouse has ended', { cause }), {
    code: 'ECONNRESET',
  });
}

/** Splits an answer into pieces, as a server would, so that its reader can pause between them. */
function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at === 0 || at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** Leaves out names whose value is undefined. */
function textsOf(
  values: Readonly<Record<string, unknown>>,
  format: (value: unknown) => string,
): Record<string, string> {
  const given = Object.entries(values).filter(([name, value]) => value !== undefined && !OF_SERVERS.has(name));
  return Object.fromEntries(given.map(([name, value]) => [name, format(value)]));
}

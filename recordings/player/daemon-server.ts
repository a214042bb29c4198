/** The daemon's HTTP server: methods, paths, credentials, headers and body limit, and the faults that tests inject. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerBody, type CallPrinter } from './envelope.ts';
import type { Faults } from './faults.ts';
import { DaemonDied, RpcFailure } from './rpc-failure.ts';

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const WRONG_CREDENTIALS_MS = 250;
const PLAIN_TYPE = 'text/html; charset=ISO-8859-1';
const NOT_IMPLEMENTED =
  '<HTML><HEAD>\n<TITLE>501 Not Implemented</TITLE>\n</HEAD><BODY>\n<H1>Not Implemented</H1>\n</BODY></HTML>\n';

export interface ReceivedRequest {
  readonly httpMethod: string;
  readonly path: string;
  readonly authorization: string | undefined;
  /** Empty if the request was refused before its calls were read. `params` is the array as sent. */
  readonly calls: readonly { readonly method: string; readonly params: string }[];
  /** Null when the connection was closed without an answer. */
  readonly status: number | null;
}

export interface DaemonServerOptions {
  readonly user: string;
  readonly password: string;
  readonly faults: () => Faults;
  readonly random: () => number;
  readonly call: CallPrinter;
  readonly onRequest: (request: ReceivedRequest) => void;
}

export interface DaemonServer {
  listen(port: number, host: string): Promise<void>;
  address(): AddressInfo;
  /** Closes the server and destroys open connections. */
  close(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the whole body, or null when it exceeds the limit. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Answers of the HTTP layer before a body is parsed; null for a POST to "/". */
function refuse(method: string, path: string): Reply | null {
  if (method === 'OPTIONS' || method === 'PATCH') {
    const headers = { 'Content-Type': 'text/html', Connection: 'close' };
    return { status: 501, body: NOT_IMPLEMENTED, headers };
  }
  if (path !== '/') return { status: 404, body: '' };
  if (method === 'POST') return null;
  return { status: 405, body: method === 'DELETE' ? '' : 'JSONRPC server handles only POST requests' };
}

function send(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  const bytes = Buffer.from(body, 'utf8');
  response.writeHead(status, { 'Content-Type': PLAIN_TYPE, ...headers, 'Content-Length': bytes.length });
  response.end(bytes);
}

export function createDaemonServer(options: DaemonServerOptions): DaemonServer {
  const { faults, random, onRequest } = options;
  const expected = `Basic ${Buffer.from(`${options.user}:${options.password}`).toString('base64')}`;
  const stopped = new AbortController();

  async function unauthorised(authorization: string | undefined): Promise<Reply> {
    if (authorization) await sleep(WRONG_CREDENTIALS_MS, undefined, { ref: false });
    return { status: 401, body: '', headers: { 'WWW-Authenticate': 'Basic realm="jsonrpc"' } };
  }

  function chance(rate: number | undefined, methods: readonly string[]): boolean {
    if (rate === undefined || rate <= 0) return false;
    const only = faults().methods;
    return (!only || methods.some((method) => only.includes(method))) && random() < rate;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers, socket } = request;
    const calls: { method: string; params: string }[] = [];
    let status: number | null = null;
    const reply = (made: Reply) => {
      status = made.status;
      send(response, made);
    };
    try {
      const body = await readBody(request);
      if (body === null) return;
      const refused = refuse(method, url);
      if (refused) return reply(refused);
      if (headers.authorization !== expected || faults().wrongAuth) {
        return reply(await unauthorised(headers.authorization));
      }
      const answered = answerBody(body, (name, params, texts) => {
        calls.push({ method: name, params });
        if (faults().warmUp) throw new RpcFailure(-28, 'Loading block index...');
        if (chance(faults().errorRate, [name])) throw new RpcFailure(-1, 'injected error');
        return options.call(name, params, texts);
      });
      const methods = calls.map((call) => call.method);
      if (chance(faults().timeoutRate, methods)) {
        await sleep((faults().timeoutSeconds ?? 3600) * 1000, undefined, { ref: false, signal: stopped.signal });
      }
      if (chance(faults().closeRate, methods)) return;
      if (chance(faults().busyRate, methods)) return reply({ status: 500, body: 'Work queue depth exceeded' });
      const json = { 'Content-Type': 'application/json' };
      if (chance(faults().garbageRate, methods)) {
        const half = answered.body.slice(0, answered.body.length / 2);
        return reply({ ...answered, body: `\u0000${half}"}]`, headers: json });
      }
      if (chance(faults().cutRate, methods)) {
        const bytes = Buffer.from(answered.body);
        response.writeHead(answered.status, { ...json, 'Content-Length': bytes.length });
        await new Promise<void>((sent) => response.write(bytes.subarray(0, bytes.length / 2), () => sent()));
        return;
      }
      reply({ ...answered, headers: json });
    } catch (error) {
      const gone = error instanceof DaemonDied || stopped.signal.aborted || request.destroyed;
      if (!gone) throw error;
    } finally {
      onRequest({ httpMethod: method, path: url, authorization: headers.authorization, calls, status });
      if (!response.writableEnded) socket.destroy();
    }
  }

  const server = createServer((request, response) => {
    // The daemon's HTTP library sends a Connection header only when it closes the connection.
    if (response.shouldKeepAlive) response.removeHeader('Connection');
    void answer(request, response);
  });

  return {
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
    },
    address: () => server.address() as AddressInfo,
    async close() {
      stopped.abort();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A daemon for tests that answers when and how a test wants, and a client that disconnects early. */
import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Wire {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface StubDaemon {
  /** Address with user and password. */
  readonly rpc: string;
  readonly calls: Wire[];
  /** Emits `asked` for each call. */
  readonly events: EventEmitter;
  /** Text of a result, or the content length that the reply's head announces instead of a result. */
  answer: (call: Wire) => Promise<string | { readonly announces: number }>;
  stop(): void;
}

/** Its replies have a content length, as the daemon's do, except every third one. */
export async function startStubDaemon(): Promise<StubDaemon> {
  const stub: Omit<StubDaemon, 'rpc' | 'stop'> = { calls: [], events: new EventEmitter(), answer: async () => '1' };
  const server: Server = createServer(async (request, response) => {
    const call = JSON.parse(await text(request)) as Wire;
    stub.calls.push(call);
    stub.events.emit('asked', call);
    const result = await stub.answer(call);
    if (typeof result !== 'string') {
      response.writeHead(200, { 'content-length': result.announces }).write('{"result":');
      return;
    }
    const body = Buffer.from(`{"result":${result},"error":null,"id":${JSON.stringify(call.id)}}\n`);
    if (stub.calls.length % 3 > 0) response.setHeader('content-length', body.length);
    response.write(body.subarray(0, body.length >> 1));
    response.end(body.subarray(body.length >> 1));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return Object.assign(stub, { rpc: `http://u:p@127.0.0.1:${(server.address() as AddressInfo).port}`, stop });
}

/** Sends a body on a connection that the test can close. */
export function leaver(port: number, body: unknown) {
  const socket = connect({ port, host: '127.0.0.1' });
  const sent = JSON.stringify(body);
  socket.on('error', () => undefined);
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${sent.length}\r\n\r\n${sent}`);
  return socket;
}

/**
 * Many WebSocket clients in one process, which only count the messages that they receive, because their own cost is not measured. Controlled
 * by messages of the parent process.
 */
import { connect, type Socket } from 'node:net';

export type Order =
  | { readonly do: 'open'; readonly port: number; readonly count: number; readonly say: string | null }
  /** These clients stop reading. */
  | { readonly do: 'stall'; readonly count: number }
  /** Answers once every reading client has received this many messages since it was opened. */
  | { readonly do: 'await'; readonly messages: number }
  /** Answers with the latencies of the messages that contain their time of sending. */
  | { readonly do: 'latencies' }
  | { readonly do: 'close' };

export interface Latencies {
  readonly count: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

interface Client {
  readonly socket: Socket;
  messages: number;
  stalled: boolean;
}

const UPGRADE =
  'GET /api/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n';
const TEXT = 1;
const PING = 9;
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const SENT_AT = Buffer.from('"sentAt":');

let clients: Client[] = [];
let latencies: number[] = [];
let awaited: number | null = null;
let behind = 0;

function masked(text: string): Buffer {
  const data = Buffer.from(text);
  // A mask of zeros leaves the bytes unchanged.
  return Buffer.concat([Buffer.from([0x81, 0x80 | 126, data.length >> 8, data.length & 0xff, 0, 0, 0, 0]), data]);
}

function opened(port: number, say: string | null): Promise<Client> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(UPGRADE));
    const client: Client = { socket, messages: 0, stalled: false };
    let rest: Buffer | null = null;
    let greeted = false;
    socket.setNoDelay(true);
    socket.on('error', reject).on('close', () => {
      if (!client.stalled && clients.includes(client)) throw new Error('a client that reads was closed');
    });
    socket.on('data', (chunk: Buffer) => {
      let bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
      if (!greeted) {
        const end = bytes.indexOf('\r\n\r\n');
        rest = bytes;
        if (end < 0) return;
        greeted = true;
        bytes = bytes.subarray(end + 4);
        if (say !== null) socket.write(masked(say));
        resolve(client);
      }
      const read = frames(bytes, client);
      rest = read === bytes.length ? null : bytes.subarray(read);
    });
  });
}

/** Counts whole frames; returns the number of bytes read. */
function frames(bytes: Buffer, client: Client): number {
  let at = 0;
  const now = Number(process.hrtime.bigint());
  while (bytes.length - at >= 2) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const head = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.length - at < head) break;
    const length = short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? bytes.readUInt32BE(at + 6) : short;
    if (bytes.length - at < head + length) break;
    const kind = (bytes[at] ?? 0) & 0xf;
    if (kind === PING) client.socket.write(PONG);
    if (kind === TEXT) count(client, bytes.subarray(at + head, at + head + length), now);
    at += head + length;
  }
  return at;
}

function count(client: Client, message: Buffer, now: number): void {
  client.messages += 1;
  if (client.messages === awaited) {
    behind -= 1;
    if (behind === 0) answer(null);
  }
  const sent = message.indexOf(SENT_AT);
  if (sent >= 0)
    latencies.push((now - Number.parseInt(message.toString('latin1', sent + SENT_AT.length, sent + 40), 10)) / 1e6);
}

function answer(value: Latencies | null): void {
  awaited = null;
  process.send?.({ value });
}

function percentiles(): Latencies {
  const sorted = latencies.sort((a, b) => a - b);
  latencies = [];
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99) };
}

process.on('message', async (order: Order) => {
  switch (order.do) {
    case 'open':
      for (let left = order.count; left > 0; left -= 100) {
        const batch = Array.from({ length: Math.min(100, left) }, () => opened(order.port, order.say));
        clients.push(...(await Promise.all(batch)));
      }
      return answer(null);
    case 'stall':
      for (const client of clients.slice(0, order.count)) {
        client.stalled = true;
        client.socket.pause();
      }
      return answer(null);
    case 'await': {
      const waiting = clients.filter(({ stalled, messages }) => !stalled && messages < order.messages);
      behind = waiting.length;
      awaited = order.messages;
      if (behind === 0) answer(null);
      return;
    }
    case 'latencies':
      return answer(percentiles());
    case 'close': {
      const closing = clients;
      clients = [];
      for (const { socket } of closing) socket.destroy();
      return answer(null);
    }
  }
});
process.once('disconnect', () => process.exit());

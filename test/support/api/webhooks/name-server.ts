/** A local name server that resolves every name to the same addresses (RFC 1035, one question per query). */
import { createSocket } from 'node:dgram';

export interface NameServer {
  readonly port: number;
  close(): void;
}

export interface ResolvedAddresses {
  /** Bytes of the address; null means that the name has none. */
  readonly A: readonly number[] | null;
  readonly AAAA: readonly number[] | null;
}

const HEADER_BYTES = 12;
const TYPES: Readonly<Record<number, keyof ResolvedAddresses>> = { 1: 'A', 28: 'AAAA' };

export async function startNameServer(addresses: ResolvedAddresses): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    let end = HEADER_BYTES;
    while (query[end]) end += (query[end] ?? 0) + 1;
    const question = query.subarray(HEADER_BYTES, end + 5);
    const type = TYPES[question.readUInt16BE(question.length - 4)];
    const bytes = type ? addresses[type] : null;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2); // the query's id
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(bytes ? 1 : 0, 6);
    const fixed = Buffer.from([0xc0, HEADER_BYTES, ...question.subarray(-4), 0, 0, 0, 0, 0, bytes?.length ?? 0]);
    const answer = bytes ? [fixed, Buffer.from(bytes)] : [];
    socket.send(Buffer.concat([header, question, ...answer]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { port: socket.address().port, close: () => socket.close() };
}

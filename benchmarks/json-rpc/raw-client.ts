/** The cheapest possible HTTP client, so that the servers are measured: one request, repeated as soon as its whole answer has arrived. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RpcTarget {
  /** Includes the credentials. */
  readonly url: string;
  readonly path: string;
}

export interface RawConnection {
  /** Sends the request and returns the body of the answer. */
  ask(): Promise<string>;
  /** Repeats the request until `end` (performance.now()); returns the milliseconds of each call. */
  repeat(end: number): Promise<number[]>;
  close(): void;
}

function requestBytes({ url, path }: RpcTarget, body: string): Buffer {
  const { host, username, password } = new URL(url);
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...(username ? [`Authorization: Basic ${basic}`] : []),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const HEAD_END = '\r\n\r\n';

async function firstAnswer(socket: Socket): Promise<{ readonly body: string; readonly bytes: number }> {
  let seen = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    seen = Buffer.concat([seen, chunk]);
    const head = seen.indexOf(HEAD_END);
    const length = /\r\nContent-Length: (\d+)/i.exec(seen.toString('latin1', 0, head))?.[1];
    const bytes = head + HEAD_END.length + Number(length);
    if (head >= 0 && seen.length >= bytes) return { body: seen.toString('utf8', head + HEAD_END.length), bytes };
  }
}

export async function openConnection(target: RpcTarget, body: string): Promise<RawConnection> {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  const request = requestBytes(target, body);
  /** Length of the answer, which is the same for each call. */
  let answerBytes = 0;
  return {
    async ask() {
      socket.write(request);
      const { body: text, bytes } = await firstAnswer(socket);
      answerBytes = bytes;
      return text;
    },
    repeat(end) {
      const times: number[] = [];
      return new Promise((resolve, reject) => {
        let got = 0;
        let sent = performance.now();
        const onData = (chunk: Buffer) => {
          got += chunk.length;
          if (got < answerBytes) return;
          if (got > answerBytes) return reject(new Error('an answer has another length than the first one'));
          const now = performance.now();
          times.push(now - sent);
          got = 0;
          sent = now;
          if (now < end) socket.write(request);
          else {
            socket.off('data', onData);
            resolve(times);
          }
        };
        socket.on('data', onData);
        socket.once('close', () => reject(new Error('the connection was closed')));
        socket.write(request);
      });
    },
    close: () => socket.destroy(),
  };
}

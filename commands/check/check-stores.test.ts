import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { type SilentServer, startSilentServer } from '../../test/support/infra/silent-server.ts';
import { checkClickHouse } from './check-stores.ts';

const logger = pino({ level: 'silent' });
const ANSWER = '{"1":1}\n';
const HTTP = `HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${ANSWER.length}\r\n\r\n${ANSWER}`;
let server: SilentServer;

afterEach(() => server.stop());

it.each([
  ['never answers', /did not answer a statement.*clickhouse_silent/, 0],
  ['answers once', /no answer within|clickhouse_silent/, 1],
] as const)('reports a ClickHouse that %s as wrong, and closes its connections', async (_, says, answers) => {
  let answered = 0;
  server = await startSilentServer((socket) => {
    socket.on('data', () => answered++ < answers && socket.write(HTTP));
  });
  const findings = await checkClickHouse({ clickhouseUrl: `http://me:pw@${server.host}/stores` }, logger, 0.1);
  expect(findings).toEqual([
    expect.objectContaining({ subject: 'ClickHouse', verdict: 'wrong', says: expect.stringMatching(says) }),
  ]);
  await expect.poll(() => server.connections()).toBe(0);
});

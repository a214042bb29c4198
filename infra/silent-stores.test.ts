/** Connecting to a store that accepts connections but does not answer fails and leaves no connection open. */
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { type SilentServer, startSilentServer } from '../test/support/infra/silent-server.ts';
import { connectClickHouse } from './clickhouse/server.ts';
import { connectPostgres } from './postgres/postgres.ts';

const logger = pino({ level: 'silent' });
let server: SilentServer;

afterEach(() => server.stop());

it('ClickHouse', async () => {
  server = await startSilentServer();
  const connecting = connectClickHouse(`http://me:pw@${server.host}/stores`, logger, 0.1);
  await expect(connecting).rejects.toMatchObject({ code: 'clickhouse_silent' });
  await expect.poll(() => server.connections()).toBe(0);
});

const message = (type: string, body: readonly number[]) => [...Buffer.from(type), 0, 0, 0, body.length + 4, ...body];
const AUTHENTICATED = message('R', [0, 0, 0, 0]);
const READY = message('Z', [...Buffer.from('I')]);

it('Postgres behind a pooler that accepts the connection', async () => {
  server = await startSilentServer((socket) => {
    socket.once('data', () => socket.write(Buffer.from([...AUTHENTICATED, ...READY])));
  });
  const connecting = connectPostgres({ url: `postgres://me:pw@${server.host}/stores`, logger, answerMs: 100 });
  await expect(connecting).rejects.toMatchObject({
    code: 'postgres_unreachable',
    message: expect.stringContaining('no answer to a statement within 0.1 s'),
  });
  await expect.poll(() => server.connections()).toBe(0);
});

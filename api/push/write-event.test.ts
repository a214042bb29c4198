import { App } from 'uWebSockets.js';
import { get } from 'node:http';
import { expect, it } from 'vitest';
import { narrowLine } from '../../test/support/api/http/lines.ts';
import { clientOf, readerOf } from '../http/answered-client.ts';
import { LEAST_PACE, Patience } from '../http/reader-pace.ts';
import { writeEvent } from './write-event.ts';

it('events arrive complete, long ones too, if the connection has no room for them at once', async () => {
  const events = Array.from({ length: 3000 }, (_, n) =>
    JSON.stringify(`${n} ä ${'x'.repeat(16_400 + ((n * 7_919) % 30_000))}`),
  );
  const app = App().get('/', async (res) => {
    const { client, untilRoom } = readerOf(res, clientOf(res), new Patience(LEAST_PACE));
    for (const [n, json] of events.entries()) {
      if (!writeEvent(res, json, 'test', String(n))) await untilRoom();
      if (client.aborted) return;
    }
    res.cork(() => res.end());
  });
  const line = await narrowLine(app);
  const text = await new Promise<string>((resolve, reject) => {
    const asked = get('http://x/', { createConnection: () => line.connect() }, (answer) => {
      let read = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        read += part;
      });
      answer.on('end', () => resolve(read)).on('error', reject);
    });
    asked.on('error', reject);
  }).finally(line.close);
  expect(text === events.map((json, n) => `id: ${n}\nevent: test\ndata: ${json}\n\n`).join('')).toBe(true);
});

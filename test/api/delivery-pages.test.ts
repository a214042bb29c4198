/** Pages of deliveries while old ones are removed: a place in the list outlives its delivery, and is valid for its webhook only. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

let service: RunningService;
let key: string;
beforeAll(async () => {
  service = await startService();
  await service.settled();
  key = await service.issueKey('pro');
});
afterAll(() => service?.stop());

async function ask(path: string, body?: unknown): Promise<{ readonly status: number; readonly body: LooseJson }> {
  const answer = await fetch(`${service.url}${path}`, {
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as LooseJson };
}

/** Registers a webhook for events that do not happen, with `count` deliveries; `sent` has the newest first. */
async function webhookWith(count: number): Promise<{ readonly id: string; readonly sent: readonly string[] }> {
  const asked = { url: 'http://127.0.0.1:54321/', events: ['reorg'] };
  const { status, body } = await ask('/api/webhooks', asked);
  expect([status, body.code]).toEqual([201, undefined]);
  const ids = Array.from({ length: count }, (_, n) => `msg_${body.id}${String(n).padStart(16, '0')}`);
  const sql = `INSERT INTO webhook_deliveries (id, webhook_id, kind, body, state)
    SELECT id, $1, 'reorg', '{}', 'delivered' FROM unnest($2::text[]) WITH ORDINALITY AS made(id, place) ORDER BY place`;
  await service.stores.postgres.pool.query(sql, [body.id, ids]);
  return { id: body.id, sent: ids.reverse() };
}

it('pages continue after a delivery that is gone, but not after one that the webhook never had', async () => {
  const { id, sent } = await webhookWith(4);
  const { id: other, sent: foreign } = await webhookWith(1);
  const list = `/api/webhooks/${id}/deliveries?limit=2`;
  const page = async (before?: string) => {
    const { body } = await ask(before === undefined ? list : `${list}&before=${before}`);
    return { ids: body.results.map((row: LooseJson) => row.id), nextBefore: body.nextBefore };
  };
  const first = await page();
  expect(first.ids).toEqual(sent.slice(0, 2));
  expect(await page(sent[0])).toMatchObject({ ids: sent.slice(1, 3) });
  await service.stores.postgres.pool.query('DELETE FROM webhook_deliveries WHERE id = $1', [sent[1]]);
  expect(await page(first.nextBefore)).toEqual({ ids: sent.slice(2), nextBefore: null });
  for (const before of [sent[1], foreign[0], first.nextBefore.replace(id, other)]) {
    const { status, body } = await ask(`${list}&before=${before}`);
    expect([before, status, body.code]).toEqual([before, 400, 'cursor_invalid']);
  }
});

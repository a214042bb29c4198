/** Deliveries of a webhook: list, detail, test message, redrive. */
import type { ApiContext } from '../../api-context.ts';
import { notFound, parameterError } from '../../http/api-error.ts';
import { pathParameter, queryParameter } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import {
  type DeliveryRow,
  findDelivery,
  listDeliveries,
  redrive,
  redriveFailed,
  serialOf,
  type WholeDeliveryRow,
} from '../../webhooks/delivery-store.ts';
import { DELIVERY_STATES } from '../../webhooks/states.ts';
import { sendTest } from '../../webhooks/webhook-store.ts';
import { id, live, ownWebhook } from './own-webhook.ts';
import { delivery, deliveryList, redriven, wholeDelivery } from './schema.ts';

const MOST_DELIVERIES = 200;
const DELIVERY = { type: 'string', pattern: '^msg_[0-9a-f]{32}$', maxLength: 36 } as const;
/** The id of an existing delivery, or the webhook and serial of a delivery that may be deleted by now. */
const BEFORE = { type: 'string', pattern: '^(msg_[0-9a-f]{32}|[0-9a-f]{16}\\.\\d{1,18})$', maxLength: 36 } as const;
const deliveryId = pathParameter('Id of the delivery', DELIVERY);

const shownDelivery = (row: DeliveryRow) => ({
  id: row.id,
  kind: row.kind,
  chain: row.chain,
  height: row.height,
  state: row.state,
  reverts: row.reverts,
  reverted: row.reverted,
  attempts: row.attempts,
  attemptedAt: row.attempted_at?.toISOString() ?? null,
  nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
  status: row.status,
  error: row.error,
  latencyMs: row.latency_ms,
  createdAt: row.created_at.toISOString(),
});

const shownWhole = (row: WholeDeliveryRow) => ({
  ...shownDelivery(row),
  body: row.body,
  answer: row.answer,
  answerCut: row.answer_cut,
});

const test = liveRoute({
  ...live,
  path: '/api/webhooks/:id/test',
  method: 'POST',
  status: 201,
  summary: 'Sends a message of type `test`; the answer is its delivery, which shows the outcome',
  parameters: { id },
  response: delivery,
  async handler({ api, holder, params }) {
    await ownWebhook(api, holder, params.id);
    const sent = await sendTest(api.postgres, api.webhooks.queue, params.id);
    api.webhooks.wake();
    const row = await findDelivery(api.postgres, params.id, sent);
    if (!row) throw notFound(`webhook ${params.id}`);
    return { body: shownDelivery(row) };
  },
});

/** @throws ApiError cursor_invalid when the webhook has no such delivery */
async function serialBefore(api: ApiContext, webhookId: string, before: string): Promise<bigint> {
  const [webhook, serial] = before.split('.');
  const isOwn = webhook === webhookId && serial !== undefined;
  const found = isOwn ? BigInt(serial) : await serialOf(api.postgres, webhookId, before);
  if (found !== null) return found;
  throw parameterError(
    'before',
    'this webhook has no such delivery: pass nextBefore of an answer of its list unchanged',
    'cursor_invalid',
  );
}

const deliveries = liveRoute({
  ...live,
  path: '/api/webhooks/:id/deliveries',
  summary: 'Deliveries that were sent, are being tried or have failed; kept for 7 days',
  parameters: {
    id,
    state: queryParameter('Only deliveries in this state', { type: 'string', enum: DELIVERY_STATES }),
    before: queryParameter(
      'nextBefore of an answer, to continue after its last delivery; or the id of a delivery',
      BEFORE,
    ),
    limit: queryParameter('Rows; more than 200 is served as 200', { type: 'integer', minimum: 1, default: 25 }),
  },
  response: deliveryList,
  async handler({ api, holder, params }) {
    await ownWebhook(api, holder, params.id);
    const { state } = params;
    const before = params.before === undefined ? null : await serialBefore(api, params.id, params.before);
    const limit = Math.min(params.limit, MOST_DELIVERIES);
    const rows = await listDeliveries(api.postgres, params.id, { state, before, limit: limit + 1 });
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    const nextBefore = last ? `${params.id}.${last.serial}` : null;
    return { body: { results: rows.slice(0, limit).map(shownDelivery), nextBefore } };
  },
});

const oneDelivery = liveRoute({
  ...live,
  path: '/api/webhooks/:id/deliveries/:deliveryId',
  summary: 'A delivery with its message and what the receiver answered',
  parameters: { id, deliveryId },
  response: wholeDelivery,
  async handler({ api, holder, params }) {
    await ownWebhook(api, holder, params.id);
    const row = await findDelivery(api.postgres, params.id, params.deliveryId);
    if (!row) throw notFound(`delivery ${params.deliveryId}`);
    return { body: shownWhole(row) };
  },
});

const allAgain = liveRoute({
  ...live,
  path: '/api/webhooks/:id/redrive',
  method: 'POST',
  summary: 'Sends all failed deliveries again, oldest first',
  parameters: { id },
  response: redriven,
  async handler({ api, holder, params }) {
    await ownWebhook(api, holder, params.id);
    const done = await redriveFailed(api.postgres, api.webhooks.queue, params.id);
    api.webhooks.wake();
    return { body: done };
  },
});

const again = liveRoute({
  ...live,
  path: '/api/webhooks/:id/deliveries/:deliveryId/redrive',
  method: 'POST',
  summary: 'Sends a delivery again now, with a new schedule of retries',
  parameters: { id, deliveryId },
  response: delivery,
  async handler({ api, holder, params }) {
    await ownWebhook(api, holder, params.id);
    const row = await redrive(api.postgres, api.webhooks.queue, params.id, params.deliveryId);
    if (!row) throw notFound(`delivery ${params.deliveryId} that is not held`);
    api.webhooks.wake();
    return { body: shownDelivery(row) };
  },
});

export const deliveryRoutes = [test, deliveries, oneDelivery, again, allAgain];

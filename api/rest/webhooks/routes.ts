/** Webhooks of the identity whose key asks: /api/webhooks */

import type { Caller } from '../../access/gate.ts';
import type { KeyOwner } from '../../access/key-store.ts';
import { requireHolder } from '../../access/require-session.ts';
import type { ApiContext } from '../../api-context.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import { pathParameter, queryParameter } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import { writtenNumber } from '../../http/values.ts';
import type { Filter } from '../../push/client-message.ts';
import { type DeliveryRow, findDelivery, listDeliveries, redrive } from '../../webhooks/delivery-store.ts';
import { checkReceiverUrl, ReceiverRefused } from '../../webhooks/receiver-address.ts';
import {
  createInterest,
  type Kind,
  parseWebhookSubscription,
  type RequestedThreshold,
  type WebhookSubscription,
} from '../../webhooks/webhook.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  MAX_WEBHOOKS,
  sendTest,
  type WebhookRegistration,
  type WebhookRow,
  type WithSecret,
} from '../../webhooks/webhook-store.ts';
import { nothing } from '../account/schema.ts';
import {
  DELIVERY_STATES,
  delivery,
  deliveryList,
  webhook,
  webhookChange,
  webhookList,
  webhookRequest,
  webhookWithSecret,
} from './schema.ts';

const live = { weight: 1, tier: 'pro', cache: 'none' } as const;
const id = pathParameter('Id of the webhook', { type: 'string', pattern: '^[0-9a-f]{16}$', maxLength: 16 });
const DELIVERY = { type: 'string', pattern: '^msg_[0-9a-f]{32}$', maxLength: 36 } as const;
const deliveryId = pathParameter('Id of the delivery', DELIVERY);

interface WebhookBody {
  readonly url?: string;
  readonly description?: string;
  readonly events?: readonly Kind[];
  readonly chains?: readonly string[] | null;
  readonly filter?: Filter;
  readonly thresholds?: readonly RequestedThreshold[];
  readonly confirmations?: number;
  readonly enabled?: boolean;
  readonly rotateSecret?: true;
}

const shown = (row: WebhookRow) => {
  const { events, chains, filter, thresholds } = parseWebhookSubscription(row.asked);
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events,
    chains,
    filter: { ...filter, ...(filter.minUsd !== undefined && { minUsd: writtenNumber(filter.minUsd) }) },
    thresholds: thresholds.map(({ usd, ...threshold }) => ({ ...threshold, usd: writtenNumber(usd) })),
    confirmations: row.confirmations,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    oldSecretEndsAt: row.old_secret_ends_at?.toISOString() ?? null,
  };
};
const withSecret = ({ row, secret }: WithSecret) => ({ ...shown(row), secret });

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
  createdAt: row.created_at.toISOString(),
});

/** What is not given is as before. @throws ApiError invalid_parameter, rate_limited */
async function registration(
  api: ApiContext,
  holder: KeyOwner,
  body: WebhookBody,
  before: WebhookRow | null,
): Promise<WebhookRegistration> {
  const had = before && parseWebhookSubscription(before.asked);
  const asked: WebhookSubscription = {
    events: body.events ?? had?.events ?? [],
    chains: (body.chains === undefined ? had?.chains : body.chains)?.map((chain) => chain.toLowerCase()) ?? null,
    filter: body.filter ?? had?.filter ?? {},
    thresholds: body.thresholds ?? had?.thresholds ?? [],
  };
  const chains = api.config.chains.map(({ name }) => name);
  await api.webhooks.turn(holder, asked);
  createInterest(asked, chains, api.webhooks.idsOf);
  return {
    url: body.url === undefined ? (before?.url ?? '') : receiverUrl(api, body.url),
    description: body.description ?? before?.description ?? '',
    asked,
    confirmations: body.confirmations ?? before?.confirmations ?? 0,
  };
}

function receiverUrl(api: ApiContext, text: string): string {
  try {
    return checkReceiverUrl(text, api.config.webhookLocalReceivers).href;
  } catch (cause) {
    if (!(cause instanceof ReceiverRefused)) throw cause;
    throw new ApiError('receiver_refused', cause.message, { cause });
  }
}

async function own(api: ApiContext, caller: Caller, webhookId: string): Promise<WebhookRow> {
  const row = await findWebhook(api.postgres, await requireHolder(api, caller), webhookId);
  if (!row) throw notFound(`webhook ${webhookId}`);
  return row;
}

const list = liveRoute({
  ...live,
  path: '/api/webhooks',
  summary: 'Webhooks of the identity',
  parameters: {},
  response: webhookList,
  async handler({ api, caller }) {
    const rows = await listWebhooks(api.postgres, await requireHolder(api, caller));
    return { body: { webhooks: rows.map(shown) } };
  },
});

const create = liveRoute({
  ...live,
  path: '/api/webhooks',
  method: 'POST',
  status: 201,
  summary: 'A new webhook; its secret is shown once',
  parameters: {},
  body: webhookRequest,
  response: webhookWithSecret,
  async handler({ api, caller, body }) {
    const holder = await requireHolder(api, caller);
    const made = await createWebhook(api.postgres, holder, await registration(api, holder, body as WebhookBody, null));
    if (!made)
      throw new ApiError('too_many_webhooks', `an identity may have ${MAX_WEBHOOKS} webhooks: delete one first`);
    return { body: withSecret(made) };
  },
});

const read = liveRoute({
  ...live,
  path: '/api/webhooks/:id',
  summary: 'A webhook',
  parameters: { id },
  response: webhook,
  handler: async ({ api, caller, params }) => ({ body: shown(await own(api, caller, params.id)) }),
});

const change = liveRoute({
  ...live,
  path: '/api/webhooks/:id',
  method: 'PATCH',
  summary: 'Changes a webhook, enables or disables it, or gives it a new secret',
  parameters: { id },
  body: webhookChange,
  response: webhookWithSecret,
  async handler({ api, caller, params, body }) {
    const holder = await requireHolder(api, caller);
    const before = await own(api, caller, params.id);
    const given = body as WebhookBody;
    const changed = await changeWebhook(api.postgres, api.webhooks.queue, holder, params.id, {
      ...(await registration(api, holder, given, before)),
      enabled: given.enabled,
      rotateSecret: given.rotateSecret === true,
    });
    if (!changed) throw notFound(`webhook ${params.id}`);
    api.webhooks.wake();
    return { body: withSecret(changed) };
  },
});

const remove = liveRoute({
  ...live,
  path: '/api/webhooks/:id',
  method: 'DELETE',
  status: 204,
  summary: 'Deletes a webhook and its deliveries',
  parameters: { id },
  response: nothing,
  async handler({ api, caller, params }) {
    const holder = await requireHolder(api, caller);
    if (!(await deleteWebhook(api.postgres, holder, params.id))) throw notFound(`webhook ${params.id}`);
    return { body: null };
  },
});

const test = liveRoute({
  ...live,
  path: '/api/webhooks/:id/test',
  method: 'POST',
  status: 201,
  summary: 'Sends a message of type `test`; the answer is its delivery, which shows the outcome',
  parameters: { id },
  response: delivery,
  async handler({ api, caller, params }) {
    await own(api, caller, params.id);
    const sent = await sendTest(api.postgres, api.webhooks.queue, params.id);
    api.webhooks.wake();
    const row = await findDelivery(api.postgres, params.id, sent);
    if (!row) throw notFound(`webhook ${params.id}`);
    return { body: shownDelivery(row) };
  },
});

const MOST_ROWS = 200;

const deliveries = liveRoute({
  ...live,
  path: '/api/webhooks/:id/deliveries',
  summary: 'What was sent, is being tried and has failed; kept for 7 days',
  parameters: {
    id,
    state: queryParameter('Of this state alone', { type: 'string', enum: DELIVERY_STATES }),
    before: queryParameter('Older than the delivery of this id: goes on after the last one of an answer', DELIVERY),
    limit: queryParameter('Rows; more than 200 is served as 200', { type: 'integer', minimum: 1, default: 25 }),
  },
  response: deliveryList,
  async handler({ api, caller, params }) {
    await own(api, caller, params.id);
    const { state, before } = params;
    const limit = Math.min(params.limit, MOST_ROWS);
    const rows = await listDeliveries(api.postgres, params.id, { state, before, limit: limit + 1 });
    const results = rows.slice(0, limit).map(shownDelivery);
    return { body: { results, nextBefore: rows.length > limit ? (results.at(-1)?.id ?? null) : null } };
  },
});

const again = liveRoute({
  ...live,
  path: '/api/webhooks/:id/deliveries/:deliveryId/redrive',
  method: 'POST',
  summary: 'Sends a delivery again, now, with the whole schedule of retries',
  parameters: { id, deliveryId },
  response: delivery,
  async handler({ api, caller, params }) {
    await own(api, caller, params.id);
    const row = await redrive(api.postgres, api.webhooks.queue, params.id, params.deliveryId);
    if (!row) throw notFound(`delivery ${params.deliveryId} that is not held`);
    api.webhooks.wake();
    return { body: shownDelivery(row) };
  },
});

export const webhookRoutes = [list, create, read, change, remove, test, deliveries, again];

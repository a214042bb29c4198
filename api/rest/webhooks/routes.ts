/** /api/webhooks: webhooks of the identity whose key or session is used. */

import type { KeyOwner } from '../../access/key-store.ts';
import type { ApiContext } from '../../api-context.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import { liveRoute } from '../../http/route.ts';
import { writtenNumber } from '../../http/values.ts';
import type { Filter } from '../../push/client-message.ts';
import { checkReceiverUrl, ReceiverRefused } from '../../webhooks/receiver-address.ts';
import { type Kind, webhookRequest } from '../../webhooks/request-schema.ts';
import {
  amongConfigured,
  createInterest,
  parseWebhookSubscription,
  type RequestedThreshold,
  refuseUnknown,
  type WebhookSubscription,
} from '../../webhooks/webhook.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  MAX_WEBHOOKS,
  type WebhookRegistration,
  type WebhookRow,
  type WithSecret,
} from '../../webhooks/webhook-store.ts';
import { nothing } from '../account/schema.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { id, live, ownWebhook } from './own-webhook.ts';
import { webhook, webhookChange, webhookList, webhookWithSecret } from './schema.ts';

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

/** Members that the body leaves out keep their values. @throws ApiError invalid_parameter, rate_limited, receiver_refused */
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
  const { names } = api.webhooks;
  await names.refresh();
  // A chain of an earlier registration may no longer be configured. It stays registered, because it may return.
  createInterest(body.chains === undefined ? amongConfigured(asked, chains) : asked, chains, names.idsOf);
  refuseUnknown(body.thresholds ?? [], names);
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

const list = liveRoute({
  ...live,
  path: '/api/webhooks',
  summary: 'Webhooks of the identity',
  parameters: {},
  response: webhookList,
  async handler({ api, holder }) {
    const rows = await listWebhooks(api.postgres, holder);
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
  errors: ['too_many_webhooks'],
  async handler({ api, holder, body }) {
    const made = await createWebhook(api.postgres, holder, await registration(api, holder, body as WebhookBody, null));
    if (!made)
      throw new ApiError('too_many_webhooks', `an identity may have ${MAX_WEBHOOKS} webhooks: delete one first`);
    api.webhooks.wake();
    return { body: withSecret(made) };
  },
});

const read = liveRoute({
  ...live,
  path: '/api/webhooks/:id',
  summary: 'A webhook',
  parameters: { id },
  response: webhook,
  handler: async ({ api, holder, params }) => ({ body: shown(await ownWebhook(api, holder, params.id)) }),
});

const change = liveRoute({
  ...live,
  path: '/api/webhooks/:id',
  method: 'PATCH',
  summary: 'Changes a webhook, enables or disables it, or gives it a new secret',
  parameters: { id },
  body: webhookChange,
  response: webhookWithSecret,
  async handler({ api, holder, params, body }) {
    const given = body as WebhookBody;
    for (;;) {
      const before = await ownWebhook(api, holder, params.id);
      const changed = await changeWebhook(api.postgres, api.webhooks.queue, holder, before, {
        ...(await registration(api, holder, given, before)),
        enabled: given.enabled,
        rotateSecret: given.rotateSecret === true,
      });
      if (!changed) continue; // another change was faster: merge with its result
      api.webhooks.wake();
      return { body: withSecret(changed) };
    }
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
  async handler({ api, holder, params }) {
    if (!(await deleteWebhook(api.postgres, holder, params.id))) throw notFound(`webhook ${params.id}`);
    return { body: null };
  },
});

export const webhookRoutes = [list, create, read, change, remove, ...deliveryRoutes];

/** Shared by all paths of webhooks: cost, id parameter, and the check of ownership. */
import type { KeyOwner } from '../../access/key-store.ts';
import type { ApiContext } from '../../api-context.ts';
import { notFound } from '../../http/api-error.ts';
import { pathParameter } from '../../http/parameters.ts';
import { findWebhook, type WebhookRow } from '../../webhooks/webhook-store.ts';

export const live = { weight: 1, tier: 'pro', cache: 'none', holder: 'keyOrSession' } as const;
export const id = pathParameter('Id of the webhook', { type: 'string', pattern: '^[0-9a-f]{16}$', maxLength: 16 });

/** @throws ApiError not_found, also for a webhook of another identity */
export async function ownWebhook(api: ApiContext, holder: KeyOwner, webhookId: string): Promise<WebhookRow> {
  const row = await findWebhook(api.postgres, holder, webhookId);
  if (!row) throw notFound(`webhook ${webhookId}`);
  return row;
}

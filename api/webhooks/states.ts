/** States of a delivery, and why a webhook is disabled. */
export const DISABLED_REASONS = ['owner', 'gone', 'failing'] as const;
export const DELIVERY_STATES = ['held', 'pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Why a webhook gets nothing: gone, the receiver answered 410; failing, it took nothing for days. */
export const DISABLED_REASONS = ['owner', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Time steps by which usage is counted. */
import { SECONDS_PER_DAY } from '../../domain/time.ts';

export const USAGE_STEPS = ['minute', 'hour', 'day'] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

export const STEP_SECONDS: Readonly<Record<UsageStep, number>> = { minute: 60, hour: 3_600, day: SECONDS_PER_DAY };

/** How long each step is kept. */
export const STEP_KEPT: Readonly<Record<UsageStep, string>> = { minute: '24 hours', hour: '30 days', day: '400 days' };

/** Time steps of a series: every step is whole, whatever `from` and `to` are. */
import { SECONDS_PER_DAY } from '../../../domain/time.ts';
import { parameterError } from '../../http/api-error.ts';
import { queryParameter } from '../../http/parameters.ts';
import { refuseEmptyRange, TIMES_BEFORE } from '../../http/ranges.ts';
import { parseTime, TIME } from '../../http/time-parameter.ts';

const SPANS = { '5m': 300, '1h': 3600, '4h': 4 * 3600, '1d': SECONDS_PER_DAY } as const;

export type Step = keyof typeof SPANS;
export const STEPS = Object.keys(SPANS) as readonly Step[];
const MAX_STEPS = 1000;

export const stepParameters = {
  step: queryParameter('Length of a step; steps of a day are UTC days', { type: 'string', enum: STEPS, default: '1h' }),
  from: queryParameter(`Time in the first step; without it the last step is the ${MAX_STEPS}th`, TIME),
  to: queryParameter(
    `The last step begins before it; without it the last step is that of the newest block, or the ${MAX_STEPS}th from \`from\``,
    TIME,
  ),
} as const;

/** Seconds since the epoch: `from` is included, `until` is not. */
export interface StepWindow {
  readonly span: number;
  readonly from: number;
  readonly until: number;
}

interface StepQuery {
  readonly step: Step;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** `newest`: the newest block's clock; no step is later. @throws ApiError invalid_parameter */
export function stepWindow(asked: StepQuery, newest: number): StepWindow {
  const span = SPANS[asked.step];
  refuseEmptyRange(TIMES_BEFORE, ['from', asked.from], ['to', asked.to]);
  const given = {
    from: asked.from === undefined ? null : parseTime(asked.from, 'from'),
    to: asked.to === undefined ? null : parseTime(asked.to, 'to'),
  };
  const newestStep = Math.floor(newest / span);
  const first = given.from === null ? null : Math.min(newestStep + 1, Math.floor(given.from / span));
  let last = newestStep;
  if (given.to !== null) last = Math.min(newestStep, Math.ceil(given.to / span) - 1);
  else if (first !== null) last = Math.min(newestStep, first + MAX_STEPS - 1);
  const begin = first ?? Math.max(0, last - MAX_STEPS + 1);
  const count = last - begin + 1;
  if (count > MAX_STEPS) {
    const detail = `from and to are ${count} steps of ${asked.step} apart; at most ${MAX_STEPS} are answered: choose a longer step, or from and to closer together`;
    throw parameterError('step', detail);
  }
  return { span, from: begin * span, until: (begin + Math.max(0, count)) * span };
}

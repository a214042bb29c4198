/** Progress lines for long commands that pass over chains. */
import type { StageStatus } from '../schemas/stage-status.ts';
import type { Output } from './command.ts';

const EVERY_MS = 5000;

type Numbers = Pick<StageStatus, 'height' | 'targetHeight' | 'rate' | 'etaSeconds'>;

/** Returns a function that prints a line at most every five seconds, the first after five seconds. `now` is monotonic, in ms. */
export function createProgressLine(
  print: Output['progress'],
  now: () => number = () => performance.now(),
): (subject: string, numbers: Numbers, counted?: 'height' | 'tick') => void {
  let printed = now();
  return (subject, { height, targetHeight, rate, etaSeconds }, counted = 'height') => {
    if (now() - printed < EVERY_MS) return;
    printed = now();
    const eta = etaSeconds === null ? '' : `, about ${Math.ceil(etaSeconds)} s to go`;
    const passed = counted === 'tick' ? 'ticks' : 'blocks';
    print(`${subject}  ${counted} ${height ?? '-'} of ${targetHeight ?? '-'}, ${rate.toFixed(0)} ${passed}/s${eta}`);
  };
}

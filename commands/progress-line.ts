/** Progress lines for long commands that pass over chains. */
import type { DigestProgress } from '../pipeline/verify/verify.ts';
import type { StageStatus } from '../schemas/stage-status.ts';
import { ALL_CHAINS } from '../schemas/stages.ts';
import type { Output } from './command.ts';

const EVERY_MS = 5000;
const LOOK_MS = 1000;

type Numbers = Pick<StageStatus, 'height' | 'targetHeight' | 'rate' | 'etaSeconds'>;

/** `now` is a monotonic clock in ms, so that setting the machine's clock neither silences nor floods the progress. */
interface Pacing {
  readonly everyMs?: number;
  readonly now?: (() => number) | undefined;
}

/** Returns a function that is true when a line is due: at most every `everyMs`, the first after `everyMs`. */
export function createPacing({ everyMs = EVERY_MS, now = () => performance.now() }: Pacing = {}): () => boolean {
  let printed = now();
  return () => {
    if (now() - printed < everyMs) return false;
    printed = now();
    return true;
  };
}

/** Returns a function that prints a text as often as createPacing allows. */
function createPacedPrint(print: Output['progress'], now?: () => number): (text: () => string) => void {
  const isDue = createPacing({ now });
  return (text) => {
    if (isDue()) print(text());
  };
}

/** Returns a function that prints a line as often as createPacedPrint. */
export function createProgressLine(
  print: Output['progress'],
  now?: () => number,
): (subject: string, numbers: Numbers, counted?: 'height' | 'tick') => void {
  const paced = createPacedPrint(print, now);
  return (subject, numbers, counted) => paced(() => progressText(subject, numbers, counted));
}

export function progressText(
  subject: string,
  { height, targetHeight, rate, etaSeconds }: Numbers,
  counted: 'height' | 'tick' = 'height',
): string {
  const passed = counted === 'tick' ? 'ticks' : 'blocks';
  return `${subject}  ${counted} ${height ?? '-'} of ${targetHeight ?? '-'}, ${rate.toFixed(0)} ${passed}/s${timeLeft(etaSeconds)}`;
}

/** Empty when the time is not known. */
export function timeLeft(etaSeconds: number | null): string {
  return etaSeconds === null ? '' : `, about ${Math.ceil(etaSeconds)} s to go`;
}

/** Prints the digest that is being taken, again and again, since one table may take minutes. `end` when it is over; `close` to stop. */
export function createDigestLines(print: Output['progress']) {
  const paced = createPacedPrint(print);
  let current: { readonly digest: DigestProgress; readonly since: number } | null = null;
  const show = () => {
    if (!current) return;
    const { since, digest } = current;
    const { chain, of, table, number, tables } = digest;
    const subject = chain === ALL_CHAINS ? 'prices' : chain;
    const seconds = Math.round((performance.now() - since) / 1000);
    paced(() => `${subject}  digest of ${table}, ${of}: table ${number} of ${tables}, for ${seconds} s`);
  };
  const timer = setInterval(show, LOOK_MS).unref();
  return {
    begin(digest: DigestProgress): void {
      current = { digest, since: performance.now() };
    },
    end(): void {
      current = null;
    },
    close: (): void => clearInterval(timer),
  };
}

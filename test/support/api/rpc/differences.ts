/** Deliberate differences from the recorded daemon's answers; everything else is identical to the byte. */
import { readFileSync } from 'node:fs';
import { elementTexts } from '../../../../domain/json/raw-json.ts';

/** The answer that replaces the recorded one; absent members are not compared. */
export interface Instead {
  readonly decision: string;
  readonly why: string;
  readonly status?: number;
  readonly body?: string;
  /** Code of the error. */
  readonly code?: number;
  /** Regular expression and replacement, applied to the recorded body. */
  readonly replace?: readonly [string, string];
  /** The result is an array of the recorded states of the history, without those of the mempool. */
  readonly history?: true;
  /** The result is the service's own help. */
  readonly help?: true;
}

interface CallDifference extends Instead {
  readonly methods: readonly string[];
  /** Regular expressions, matched against the text of the parameters and the recorded body. */
  readonly params?: string;
  readonly recorded?: string;
  /** Fewest and most parameters. */
  readonly parameters?: readonly [number, number];
  readonly unlessTrueAt?: number;
}

interface WireDifference extends Instead {
  readonly cases: readonly string[];
}

interface Differences {
  readonly calls: readonly CallDifference[];
  readonly wire: readonly WireDifference[];
}

const file = new URL('./differences.json', import.meta.url);
export const differences = JSON.parse(readFileSync(file, 'utf8')) as Differences;

export interface DaemonCall {
  readonly method: string;
  readonly params: string;
  /** Undefined if the call ended the daemon. */
  readonly body: string | undefined;
}

/** Returns undefined when the answer must be equal to the byte. */
export function differenceOfCall({ method, params, body }: DaemonCall): CallDifference | undefined {
  const texts = params.startsWith('[') ? elementTexts(params) : [];
  return differences.calls.find((one) => {
    if (!one.methods.includes(method)) return false;
    if (one.params !== undefined && !new RegExp(one.params, 'i').test(params)) return false;
    if (one.recorded !== undefined && !new RegExp(one.recorded).test(body ?? '')) return false;
    if (one.unlessTrueAt !== undefined && texts[one.unlessTrueAt] === 'true') return false;
    const [fewest, most] = one.parameters ?? [0, Number.POSITIVE_INFINITY];
    return texts.length >= fewest && texts.length <= most;
  });
}

export const differenceOfWire = (name: string): WireDifference | undefined =>
  differences.wire.find((one) => one.cases.includes(name));

/** Returns null when the answer is right, otherwise what was expected. `recorded`: every body that was recorded for the call. */
export function fault(
  got: { readonly status: number; readonly text: string },
  recorded: { readonly status: number | undefined; readonly bodies: readonly string[] },
  instead: Instead | undefined,
): unknown {
  const status = instead?.status ?? recorded.status;
  if (instead?.history) return historyFault(got.text, recorded.bodies);
  if (got.status !== status) return { status };
  if (instead?.help) return /"result":"(== Chain ==|help: unknown command)/.test(got.text) ? null : 'our help';
  if (instead?.code !== undefined) return got.text.includes(`"error":{"code":${instead.code},`) ? null : instead.code;
  if (instead?.body !== undefined) return got.text === instead.body ? null : instead.body;
  const [pattern, replacement] = instead?.replace ?? [];
  if (instead && pattern === undefined) return null;
  const bodies = recorded.bodies.map((body) =>
    pattern === undefined ? body : body.replace(new RegExp(pattern, 'g'), replacement ?? ''),
  );
  return bodies.includes(got.text) ? null : bodies;
}

interface HistoryAnswer {
  readonly result: HistoryStates | { readonly history: HistoryStates } | null;
  readonly error: { readonly code: number } | null;
}

type HistoryStates = readonly { readonly height: number }[];

/** Heights of the states, or the error code. */
function historyOf(text: string): string {
  const { result, error } = JSON.parse(text) as HistoryAnswer;
  if (error || !result) return `error ${error?.code}`;
  const states = 'history' in result ? result.history : result;
  return states
    .map(({ height }) => height)
    .filter((height) => height > 0)
    .join();
}

function historyFault(text: string, bodies: readonly string[]): unknown {
  const wanted = bodies.map(historyOf);
  const isArray = !text.includes('"history":[');
  return isArray && wanted.includes(historyOf(text)) ? null : wanted;
}

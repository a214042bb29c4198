/** Answers that are derived from the released blocks. */
import { skipSpace } from '../../domain/json/json-scan.ts';
import type { RecordingView } from './chain-view.ts';
import { RpcFailure, WrongParameterCount } from './rpc-failure.ts';

/**
 * Returns the text of the result as the daemon prints it at the view's tip, or null when it cannot be derived from the recording.
 * Throws RpcFailure for the daemon's errors. `params` are the texts of the positional parameters.
 */
export type Derive = (view: RecordingView, params: readonly string[]) => string | null;

export type Derivations = Readonly<Record<string, Derive>>;

/** @throws WrongParameterCount when a call has more parameters than the method takes */
export function atMost(params: readonly string[], count: number): void {
  if (params.length > count) throw new WrongParameterCount();
}

/** Mimics the daemon's get_int. */
export function requireInteger(text: string): number {
  const number = integerParam(text);
  if (number !== null) return number;
  const isNumber = /^-?\d/.test(text);
  throw new RpcFailure(-1, isNumber ? 'JSON integer out of range' : 'JSON value is not an integer as expected');
}

/** Parses an integer parameter; returns null for any other text, whose treatment only the recording knows. */
export function integerParam(text: string | undefined): number | null {
  return text !== undefined && /^-?\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Parses a string parameter; returns null for any other type. */
export function stringParam(text: string | undefined): string | null {
  return text !== undefined && text.charCodeAt(skipSpace(text, 0)) === 34 ? String(JSON.parse(text)) : null;
}

/**
 * What a parameter may be. A type states what it lets through to a daemon, and everything else is refused. A value of another JSON
 * type goes through where it cannot do harm, since the daemon's own error for it is what clients know.
 */
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';

export interface ParameterType {
  /** For people: "must be …". */
  readonly allows: string;
  /** Null when the JSON text of a value is allowed. */
  check(text: string): Misfit | null;
}

/** Why a value is refused. */
export interface Misfit {
  /** Path within the parameter: `.addresses[3]`; '' for the parameter itself. */
  readonly path: string;
  readonly allows: string;
  readonly code: number;
}

/** null, booleans, numbers of a sane length and empty containers: no method takes one of them for something else than it is. */
const OTHER_VALUE = /^(?:null|true|false|-?\d[\d.eE+-]{0,39}|\[\s*\]|\{\s*\})$/;

/** Value of the JSON text of a string. */
export function stringOf(text: string): string {
  const inner = text.slice(1, -1);
  return inner.includes('\\') ? String(JSON.parse(text)) : inner;
}

/** A character of the text may be written in six: \u0061. */
const isLonger = (text: string, most: number) => text.length > most * 6 + 2;

interface TextRule {
  readonly allows: string;
  readonly pattern: RegExp;
  /** Characters. */
  readonly most: number;
  readonly code?: number;
  /** Check of a value that is not a string; OTHER_VALUE by default. */
  readonly others?: RegExp;
}

export function textType({ allows, pattern, most, code, others = OTHER_VALUE }: TextRule): ParameterType {
  const misfit: Misfit = { path: '', allows, code: code ?? RPC_CODES.invalidParameter };
  return {
    allows,
    check(text) {
      if (!text.startsWith('"')) return others.test(text) ? null : misfit;
      if (isLonger(text, most)) return misfit;
      const value = stringOf(text);
      return value.length <= most && pattern.test(value) ? null : misfit;
    },
  };
}

/** What one of the two lets through. Both are of single values: a list or an object would let every word through. */
export function either(first: ParameterType, second: ParameterType): ParameterType {
  const allows = `${first.allows}, or ${second.allows}`;
  return {
    allows,
    check(text) {
      const misfit = first.check(text);
      return misfit && second.check(text) && { ...misfit, path: '', allows };
    },
  };
}

/**
 * Types of parameters. A type is an allowlist of what may reach a daemon; everything else is refused. A harmless value of another JSON
 * type passes, because clients expect the daemon's own error for it.
 */
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';

export interface ParameterType {
  /** Completes the sentence "must be …" in error messages and docs. */
  readonly allows: string;
  /** Returns null when the JSON text of a value is allowed. */
  check(text: string): Misfit | null;
}

/** Why a value is refused. */
export interface Misfit {
  /** Path within the parameter: `.addresses[3]`; '' for the parameter itself. */
  readonly path: string;
  readonly allows: string;
  readonly code: number;
}

/** null, booleans, numbers of at most 40 characters and empty containers: no method mistakes one of these for another type. */
const OTHER_VALUE = /^(?:null|true|false|-?\d[\d.eE+-]{0,39}|\[\s*\]|\{\s*\})$/;

/** Value of the JSON text of a string. */
export function stringOf(text: string): string {
  const inner = text.slice(1, -1);
  return inner.includes('\\') ? String(JSON.parse(text)) : inner;
}

/** A character may take six characters in JSON, such as \u0061. */
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

/** Values of either type. Both must be types of single values, because a list or an object type lets every word pass. */
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

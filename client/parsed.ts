/** The type of a value that the service writes after a client has parsed it: numbers are doubles. */
import type { LosslessNumber } from 'lossless-json';
import type { WrittenDecimal } from '../api/schema/written-decimal.ts';

export type Parsed<T> = unknown extends T
  ? unknown
  : T extends LosslessNumber
    ? number
    : T extends WrittenDecimal
      ? number | string
      : T extends readonly (infer I)[]
        ? Parsed<I>[]
        : T extends object
          ? { -readonly [K in keyof T]: Parsed<T[K]> }
          : T;

/**
 * The part of JSON Schema that parameters and answers use, the TypeScript type of what a schema allows, and the shapes that many
 * answers share. docs/decisions/0051-schemas-give-types.md
 */
import type { LosslessNumber } from 'lossless-json';
import { HASH, WRITTEN_HASH } from '../../domain/hashes.ts';
import type { ExactNumber } from '../../domain/satoshi.ts';
import { TRANSACTION_TYPES } from '../../schemas/facts.ts';
import { INT32_MAX } from '../../schemas/integers.ts';

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
}

declare const VALUE: unique symbol;

/** A schema with the type of its values, which only the compiler sees. */
export interface Schema<T> extends JsonSchema {
  readonly [VALUE]?: T;
}

interface Values {
  readonly string: string;
  readonly integer: number;
  readonly number: ExactNumber;
  readonly boolean: boolean;
  readonly null: null;
}

/** Type of a value as the service makes it; unknown when the schema does not determine it. */
export type Typed<S> = typeof VALUE extends keyof S
  ? Exclude<S[typeof VALUE], undefined>
  : S extends { readonly const: infer C }
    ? C
    : S extends { readonly enum: readonly (infer E)[] }
      ? E
      : S extends { readonly anyOf: readonly (infer A)[] }
        ? TypedEach<A>
        : S extends { readonly type: readonly (infer N)[] }
          ? TypeNamed<N, S>
          : S extends { readonly type: infer N }
            ? TypeNamed<N, S>
            : unknown;

type TypedEach<S> = S extends unknown ? Typed<S> : never;
type TypeNamed<N, S> = N extends keyof Values
  ? Values[N]
  : N extends 'array'
    ? readonly (S extends { readonly items: infer I } ? Typed<I> : unknown)[]
    : N extends 'object'
      ? Members<S>
      : unknown;
type Members<S> = S extends { readonly properties: infer P }
  ? S extends { readonly required: readonly (infer R)[] }
    ? { readonly [K in Extract<keyof P, R>]: Typed<P[K]> } & { readonly [K in Exclude<keyof P, R>]?: Typed<P[K]> }
    : { readonly [K in keyof P]?: Typed<P[K]> }
  : Readonly<
      Record<string, S extends { readonly additionalProperties: infer V extends JsonSchema } ? Typed<V> : unknown>
    >;

export type Properties = Readonly<Record<string, JsonSchema>>;
export type ObjectOf<P> = { readonly [K in keyof P]: Typed<P[K]> };

export const string = { type: 'string' } as const;
/** An identity, a currency or an address, as a caller may write it. */
export const writtenName = { type: 'string', minLength: 1, maxLength: 500 } as const;
/** An address, or the name of an identity, as a caller may write it. */
export const writtenAddress = { type: 'string', minLength: 1, maxLength: 200 } as const;
/** The id of a block or transaction, in lower or upper case. */
export const writtenHash = { type: 'string', pattern: `^${WRITTEN_HASH}$` } as const;
/** A height that the stores can represent. */
export const writtenHeight = { type: 'integer', minimum: 0, maximum: INT32_MAX } as const;
export const nullableString = { type: ['string', 'null'] } as const;
export const integer = { type: 'integer' } as const;
export const nullableInteger = { type: ['integer', 'null'] } as const;
export const number = { type: 'number' } as const;
export const nullableNumber = { type: ['number', 'null'] } as const;
export const boolean = { type: 'boolean' } as const;
export const hash = { type: 'string', pattern: `^${HASH}$` } as const;
export const nullableHash = { type: ['string', 'null'], pattern: `^${HASH}$` } as const;
export const height = { type: 'integer', minimum: 0 } as const;
export const finalizedHeight = {
  ...height,
  description: 'No reorganisation removes a block of the chain up to this height',
} as const;
export const unixTime = { type: 'integer', description: 'Seconds since the epoch, as the block says' } as const;
export const isoTime = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' } as const;
export const nullableTime = { ...isoTime, type: ['string', 'null'] } as const;
/** A UTC day. */
export const isoDate = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' } as const;
export const coins: Schema<LosslessNumber> = { type: 'number', description: 'Coins, exactly 8 decimals' };
export const nullableCoins: Schema<LosslessNumber | null> = { ...coins, type: ['number', 'null'] };
export const usd = { type: 'number', description: 'US dollars' } as const;
export const nullableUsd = {
  type: ['number', 'null'],
  description: 'US dollars; null where there is no price',
} as const;
/** How reliable a price is: 0 means not at all. */
export const confidence = { type: 'integer', minimum: 0, maximum: 100 } as const;
export const transactionType = { type: 'string', enum: TRANSACTION_TYPES } as const;

/** An object in which every property is required and no other is allowed. */
export function object<const P extends Properties>(properties: P, description?: string): Schema<ObjectOf<P>> {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...(description && { description }),
  };
}

/** Like object(), but allows further members, which the chain decides. */
export function openObject<const P extends Properties>(
  properties: P,
  description?: string,
): Schema<ObjectOf<P> & Readonly<Record<string, unknown>>> {
  return { ...object(properties, description), additionalProperties: true };
}

/** Adds optional properties. */
export function withOptional<T, const P extends Properties>(
  schema: Schema<T>,
  properties: P,
): Schema<T & Partial<ObjectOf<P>>> {
  const whole: JsonSchema = schema;
  return { ...whole, properties: { ...whole.properties, ...properties } };
}

export function nullable<const S extends JsonSchema>(schema: S): Schema<Typed<S> | null> {
  return { ...schema, type: [...[schema.type ?? []].flat(), 'null'] };
}

export function array<const I extends JsonSchema>(items: I, description?: string): Schema<readonly Typed<I>[]> {
  return { type: 'array', items, ...(description && { description }) };
}

/** An amount of a currency other than the chain's own coin. */
export const currencyAmount = object({ currencyId: string, currencyName: nullableString, amount: coins });

export interface PageOf<Row> {
  readonly results: readonly Row[];
  readonly page: number | null;
  readonly pageSize: number;
  readonly total: number;
  readonly totalPages: number;
  readonly nextCursor: string | null;
  readonly prevCursor: string | null;
}

/** Envelope of a list. `members`: further members of the answer. */
export function page<const R extends JsonSchema, const B extends Properties = Record<never, never>>(
  row: R,
  members?: B,
): Schema<ObjectOf<B> & PageOf<Typed<R>>> {
  const schema: JsonSchema = object({
    ...members,
    results: array(row),
    page: { type: ['integer', 'null'], description: 'Null when the list is read by cursor' },
    pageSize: { type: 'integer', minimum: 1, maximum: 200, description: 'Rows a page; more than 200 is served as 200' },
    total: integer,
    totalPages: integer,
    nextCursor: { type: ['string', 'null'], description: 'Continues after the last row; null at the end' },
    prevCursor: { type: ['string', 'null'], description: 'Goes back before the first row; null at the beginning' },
  });
  return schema;
}

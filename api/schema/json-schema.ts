/** The part of JSON Schema that parameters and answers use, and the shapes that many answers share. */
import { HASH } from '../../domain/hashes.ts';
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

export const string = { type: 'string' } as const;
/** An identity, a currency or an address, as a caller may write it. */
export const writtenName = { type: 'string', minLength: 1, maxLength: 500 } as const;
export const nullableString = { type: ['string', 'null'] } as const;
export const integer = { type: 'integer' } as const;
export const nullableInteger = { type: ['integer', 'null'] } as const;
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
export const coins = { type: 'number', description: 'Coins, exactly 8 decimals' } as const;
export const nullableCoins = { type: ['number', 'null'], description: 'Coins, exactly 8 decimals' } as const;
export const usd = { type: 'number', description: 'US dollars' } as const;
export const nullableUsd = {
  type: ['number', 'null'],
  description: 'US dollars; null where there is no price',
} as const;

/** Every property is required and no other is allowed. */
export function object(properties: Readonly<Record<string, JsonSchema>>, description?: string): JsonSchema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...(description && { description }),
  };
}

/** As object(), with members that the chain decides. */
export function openObject(properties: Readonly<Record<string, JsonSchema>>, description?: string): JsonSchema {
  return { ...object(properties, description), additionalProperties: true };
}

export function array(items: JsonSchema, description?: string): JsonSchema {
  return { type: 'array', items, ...(description && { description }) };
}

/** An amount of a currency that is not the chain's own. */
export const currencyAmount = object({ currencyId: string, currencyName: nullableString, amount: coins });

/** Envelope of a list, with further members of the answer. */
export function page(row: JsonSchema, beside: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return object({
    ...beside,
    results: array(row),
    page: { type: ['integer', 'null'], description: 'Null in a walk by cursor' },
    pageSize: { type: 'integer', minimum: 1, maximum: 200, description: 'Rows a page; more than 200 is served as 200' },
    total: integer,
    totalPages: integer,
    nextCursor: { type: ['string', 'null'], description: 'Goes on after the last row; null at the end' },
  });
}

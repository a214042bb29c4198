import { type Defined, defineFact } from './definition.ts';
import { choice, hash, integer, nullable, text } from './fields.ts';

export const DEAD_LETTER_SCOPES = ['block', 'transaction', 'input', 'output'] as const;
export type DeadLetterScope = (typeof DEAD_LETTER_SCOPES)[number];

/** A part of a block that could not be decoded; no other fact is derived from it. */
export const DEAD_LETTER = defineFact({
  type: 'dead_letter',
  fields: {
    /** Place among the dead letters of its block. */
    ordinal: integer(),
    scope: choice(DEAD_LETTER_SCOPES),
    /** Id of the transaction; null for a block, or when the id is unreadable. */
    txid: nullable(hash()),
    /** Index of the input or output in its transaction. */
    n: nullable(integer()),
    /** Stable: docs/errors.md. */
    code: text(),
    message: text(),
    /** The part as JSON text; null when it is large or the whole block: the log's record at this position contains it. */
    payload: nullable(text()),
  },
  key: null,
  recalled: 'no',
  postgres: { life: 'event', table: 'dead_letters' },
  clickhouse: [],
  published: false,
});

export interface DeadLetterFact extends Defined<typeof DEAD_LETTER> {}

import { type Defined, defineFact } from './definition.ts';
import { choice, hash, integer, nullable, text } from './fields.ts';

export const DEAD_LETTER_SCOPES = ['block', 'transaction', 'input', 'output'] as const;
export type DeadLetterScope = (typeof DEAD_LETTER_SCOPES)[number];

/** A part of a block that could not be decoded: what it holds is derived nowhere else. */
export const DEAD_LETTER = defineFact({
  type: 'dead_letter',
  fields: {
    /** Place among the dead letters of its block. */
    ordinal: integer(),
    scope: choice(DEAD_LETTER_SCOPES),
    /** Id of the transaction; null for a block, and if it is unreadable. */
    txid: nullable(hash()),
    /** Index of the input or output in its transaction. */
    n: nullable(integer()),
    /** Stable: docs/errors.md. */
    code: text(),
    message: text(),
    /** The part as JSON text; null where it is large or the whole block: the log's record at this position holds it. */
    payload: nullable(text()),
  },
  key: null,
  recalled: 'no',
  postgres: { life: 'event', table: 'dead_letters' },
  clickhouse: [],
  published: false,
});

export interface DeadLetterFact extends Defined<typeof DEAD_LETTER> {}

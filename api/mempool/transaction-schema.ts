/** Schema of a waiting transaction in REST and the stream. */
import { CONVERSION_TYPES } from '../../domain/transfers.ts';
import { IDENTITY_CHANGE_KINDS } from '../../schemas/facts.ts';
import {
  array,
  coins,
  hash,
  integer,
  type JsonSchema,
  nullableCoins,
  nullableNumber,
  nullableString,
  object,
  string,
  transactionType,
} from '../schema/json-schema.ts';

/** Longest list in a transaction that is not requested by itself, and longest JSON text of an identity's changes. */
export const MOST_PARTS = 100;
export const MOST_CHANGES_TEXT = 16_384;

export const seenAt = {
  type: 'integer',
  description: 'Seconds since the epoch, when this service first saw it: no block says when',
} as const;

export const conversionMembers = {
  vout: integer,
  type: { type: 'string', enum: CONVERSION_TYPES },
  fromCurrencyId: nullableString,
  toCurrencyId: string,
  viaCurrencyId: nullableString,
  basketId: { ...string, description: 'Currency whose import will execute it' },
  amountIn: { ...coins, description: 'Conversion fee inside, transfer fee outside' },
  fee: { ...coins, description: 'Conversion fee in the from currency, both legs of a via' },
  source: { ...nullableString, description: 'Also null if the address that pays is not known' },
  destination: nullableString,
} as const satisfies Readonly<Record<string, JsonSchema>>;

const first = (what: string) => `The first ${MOST_PARTS}; ${what} is the number of all`;

export const waitingTransaction = object({
  txid: hash,
  seenAt,
  type: transactionType,
  types: array(transactionType, 'Every type that fits, the first of them is `type`'),
  fee: { ...nullableCoins, description: 'Null if not all outputs that it spends are known' },
  size: { ...integer, description: 'Bytes' },
  feeRate: { ...nullableNumber, description: 'Satoshis a byte' },
  expiryHeight: { ...integer, description: 'Newest block that may contain it; 0 if it never expires' },
  conversionCount: integer,
  conversions: array(object(conversionMembers), first('conversionCount')),
  identityCount: integer,
  identities: array(
    object({
      identityAddress: string,
      name: string,
      fullyQualifiedName: string,
      kind: { type: 'string', enum: IDENTITY_CHANGE_KINDS },
      flags: integer,
      changes: {
        type: ['array', 'null'],
        items: object({ field: string, old: {}, new: {} }),
        description: `Null where they take more than ${MOST_CHANGES_TEXT} characters`,
      },
    }),
    first('identityCount'),
  ),
  addressCount: integer,
  addresses: array(
    object({
      address: string,
      received: coins,
      sent: coins,
      net: coins,
      currencies: array(object({ currencyId: string, amount: coins }), 'Net of every other currency'),
    }),
    first('addressCount'),
  ),
});

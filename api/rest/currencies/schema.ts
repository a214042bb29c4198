/** Definitions of currencies. */
import { CURRENCY_TYPES } from '../../../schemas/facts.ts';
import {
  integer,
  nullableCoins,
  nullableHash,
  nullableInteger,
  nullableString,
  nullableUsd,
  openObject,
  string,
} from '../../schema/json-schema.ts';

export const currencyDetail = openObject(
  {
    currencyId: string,
    name: string,
    fullyQualifiedName: string,
    chain: string,
    type: { type: 'string', enum: CURRENCY_TYPES },
    options: integer,
    parent: nullableString,
    parentName: nullableString,
    systemId: string,
    currencyNames: {
      type: 'object',
      description: 'Names of the ids in `currencies`',
      additionalProperties: nullableString,
    },
    definitionTxid: nullableHash,
    definitionTxOut: nullableInteger,
    definitionHeight: nullableInteger,
    supply: nullableCoins,
    price: nullableUsd,
  },
  'As getcurrency prints it, in camelCase',
);

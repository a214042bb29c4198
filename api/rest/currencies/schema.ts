/** Schemas of currencies. */
import { LAUNCH_STATUSES } from '../../../domain/launch.ts';
import { CURRENCY_TYPES } from '../../../schemas/facts.ts';
import {
  array,
  hash,
  height,
  integer,
  nullable,
  nullableCoins,
  nullableHash,
  nullableInteger,
  nullableString,
  nullableUsd,
  object,
  openObject,
  string,
} from '../../schema/json-schema.ts';

const type = { type: 'string', enum: CURRENCY_TYPES } as const;
const launchStatus = {
  type: 'string',
  enum: LAUNCH_STATUSES,
  description: 'refunding: too little was preconverted, so every contribution is returned',
} as const;

const launch = object({
  status: launchStatus,
  startBlock: { ...height, description: 'Height at which the launch is decided, on the system that launches it' },
  blocksToStart: { ...nullableInteger, description: 'Null once the launch is decided' },
  preconversions: array(
    object({
      currencyId: string,
      currencyName: nullableString,
      amount: {
        ...nullableCoins,
        description: 'Amount preconverted until the launch was decided, or until now; fees are subtracted',
      },
      minimum: { ...nullableCoins, description: 'Below it the launch fails; null if there is no minimum' },
      maximum: nullableCoins,
    }),
    'One row for each currency that may be preconverted; empty if another system launched the currency',
  ),
});

export const currencyDetail = openObject(
  {
    currencyId: string,
    name: string,
    fullyQualifiedName: string,
    chain: string,
    type,
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
    launch: { ...nullable(launch), description: "Null for a chain's own coin" },
  },
  'As getcurrency prints it, in camelCase',
);

export const currencyRow = object({
  currencyId: string,
  name: string,
  fullyQualifiedName: string,
  chain: string,
  type,
  options: integer,
  parent: nullableString,
  parentName: nullableString,
  systemId: string,
  definitionTxid: hash,
  definitionHeight: height,
  startBlock: height,
  launch: launchStatus,
  supply: { ...nullableCoins, description: 'Null if the chain has no state of the currency' },
});

/** Facts that no store or topic could hold are a fault of what they were derived from. */
import { PermanentError } from '../schemas/errors.ts';
import type { Fact, FactType } from '../schemas/facts.ts';

/** A value is missing, or outside of what its column holds. */
export class UnstorableFact extends PermanentError {
  constructor(type: FactType, field: string, value: unknown) {
    super('unstorable', `${field} of a ${type} cannot be ${describe(value)}`);
  }
}

const INT4_MAX = 2 ** 31 - 1;
const INT64_MAX = 2n ** 63n - 1n;
const UINT32_MAX = 2 ** 32 - 1;
const HEX = /^(?:[0-9a-f]{2})*$/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Integers of more than 31 bits; every other number fits int4 and is not negative. */
const WIDE: ReadonlyMap<string, number> = new Map([
  ['version', Number.MAX_SAFE_INTEGER],
  ['lockTime', Number.MAX_SAFE_INTEGER],
  ['timelock', Number.MAX_SAFE_INTEGER],
  ['time', UINT32_MAX],
  ['clock', UINT32_MAX],
  ['window', UINT32_MAX],
  ['requestTime', UINT32_MAX],
  ['importTime', UINT32_MAX],
]);
/** An import that no export brought names output −1. */
const SIGNED = new Set(['version', 'timelock', 'lockTime', 'exportVout']);
const HEX_FIELDS = new Set(
  'hash previousHash merkleRoot chainWork chainStake txid sourceTxid exportTxid importTxid'.split(' '),
);
// Fields by name, which all facts use alike: what a processor copied from a malformed object may be of any kind.
const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
const NUMBERS =
  words(`txIndex n vout size lockTime expiryHeight flags timelock time clock version txCount options startBlock
  minimumSignatures registeredHeight liveHeight stateHeight window requestHeight requestTime exportVout exportHeight exportIndex
  importHeight importTime payoutVout sourceVout`);
const AMOUNTS =
  words(`value received sent balance fee fees reward feePool supply weight reserves priceInReserve amount amountIn
  transferFee conversionFee amountOut transparentChange shieldedSupply`);
const TEXTS =
  words(`type item hash previousHash validationType difficulty bits nonce merkleRoot chainWork chainStake minerAddress txid
  address rewardAddress sourceTxid kind data identityAddress name parent fullyQualifiedName revocationAuthority recoveryAuthority
  referral registration contentHashes changes state currencyId systemId currencyType definition status fromCurrencyId toCurrencyId viaCurrencyId
  importCurrencyId transferFeeCurrencyId destination source destinationSystemId importSystemId sourceSystemId exportTxid importTxid
  reason`);
const TEXT_LISTS = words('kinds addresses primaryAddresses');
const LISTS = words('kinds addresses primaryAddresses transfers reserves');
const MAPS = words('currencies stake');
const isListed = (field: string): boolean => [NUMBERS, AMOUNTS, TEXTS, LISTS, MAPS].some((names) => names.has(field));
const NULLABLE = new Set(
  Object.entries({
    block: 'previousHash minerAddress feePool shieldedSupply stake address rewardAddress',
    transaction: 'fee',
    output: 'data',
    identity: 'referral registration contentHashes',
    currency: 'parent',
    currency_state: 'liveHeight',
    export: 'rewardAddress',
    transfer: `fromCurrencyId viaCurrencyId amountOut destination source destinationSystemId importSystemId sourceSystemId exportTxid
      exportVout exportIndex exportHeight importTxid importHeight importTime payoutVout reason`,
  }).flatMap(([type, fields]) => [...words(fields)].map((field) => `${type} ${field}`)),
);

/** Of the most frequent facts, the fields that were not looked at where the block was read. */
const FIELDS: Partial<Record<FactType, readonly string[]>> = {
  output: ['kind', 'currencies'],
  spend: [],
  activity: ['received', 'sent', 'currencies'],
  balance: ['balance'],
  transaction: ['fee', 'size', 'lockTime', 'expiryHeight'],
};

/** @throws UnstorableFact */
export function assertStorable(facts: readonly Fact[]): void {
  for (const fact of facts) {
    const values = fact as unknown as Readonly<Record<string, unknown>>;
    for (const field of FIELDS[fact.type] ?? Object.keys(fact)) check(fact.type, field, values[field]);
  }
}

/** A field that stands in no list is held to nothing but its size. */
function check(type: FactType, field: string, value: unknown): void {
  if (!isOfKind(type, field, value)) throw new UnstorableFact(type, field, value);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (TEXT_LISTS.has(field) ? typeof item !== 'string' : typeof item !== 'object') {
        throw new UnstorableFact(type, field, item);
      }
      check(type, TEXT_LISTS.has(field) ? 'item' : 'member', item);
    }
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    if (key === '' || /[\n\0]/.test(key)) throw new UnstorableFact(type, field, key);
    check(type, key, member);
  }
}

function isOfKind(type: FactType, field: string, value: unknown): boolean {
  if (value === null) return NULLABLE.has(`${type} ${field}`);
  if (Array.isArray(value)) return LISTS.has(field) || !isListed(field);
  switch (typeof value) {
    case 'string':
      return !NUMBERS.has(field) && !AMOUNTS.has(field) && !LISTS.has(field) && isText(field, value);
    case 'number':
      return (NUMBERS.has(field) || !isListed(field)) && isInteger(field, value);
    case 'bigint':
      return (AMOUNTS.has(field) || !isListed(field)) && value <= INT64_MAX && value >= -INT64_MAX;
    case 'object':
      return field === 'currencies' || field === 'stake' || field === 'member' || !isListed(field);
    default:
      return false;
  }
}

function isText(field: string, text: string): boolean {
  if (HEX_FIELDS.has(field)) return HEX.test(text);
  return field === 'difficulty' ? NUMBER.test(text) : !text.includes('\0');
}

function isInteger(field: string, value: number): boolean {
  if (!Number.isSafeInteger(value) || value > (WIDE.get(field) ?? INT4_MAX)) return false;
  return value >= 0 || SIGNED.has(field);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(value);
}

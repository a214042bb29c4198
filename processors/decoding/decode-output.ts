/** Decodes one output: its values, its owners and its kind. */
import { TRANSFER_FLAGS } from '../../domain/flags.ts';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import { exactInteger } from '../../domain/satoshi.ts';
import type { CurrencyAmounts, OutputFact } from '../../schemas/facts.ts';
import type { DaemonOutput, DaemonScript } from '../../schemas/verusd/block.ts';
import { isKey } from '../faults/redact.ts';
import { asInteger, asObject, asSatoshis, asText, type DecodedObject } from './decoded-object.ts';

export type DecodedOutput = Pick<OutputFact, 'value' | 'currencies' | 'kind' | 'addresses' | 'data'>;

const NOTHING: CurrencyAmounts = {};

/** Keys of scriptPubKey about its structure; any other key names the decoded object. */
const SCRIPT_KEYS = new Set([
  'type',
  'vdxftag',
  'spendableoutput',
  'reserve_balance',
  'reqSigs',
  'addresses',
  'asm',
  'hex',
]);

/** Kinds whose currency map is value in the output; the maps of other kinds (fee pool, export, import …) only report amounts. */
const HOLDERS = new Set(['reserveoutput', 'reservedeposit', 'commitmenthash', 'reservetransfer']);

/** @throws RangeError when a value is not a valid amount */
export function decodeOutput(output: DaemonOutput, nativeCurrencyId: string): DecodedOutput {
  const script = output.scriptPubKey;
  const kind = outputKind(script);
  const decoded = asObject(script[kind]);
  return {
    value: exactInteger(output.valueSat),
    currencies: decoded && HOLDERS.has(kind) ? heldCurrencies(kind, decoded, nativeCurrencyId) : NOTHING,
    kind,
    addresses: distinct(script.addresses ?? []),
    data: decoded ? stringifyExact(decoded) : script[kind] === 'invalid' ? '"invalid"' : null,
  };
}

/** Returns the key of the decoded kind, else the script type. */
export function outputKind(script: DaemonScript): string {
  for (const key in script) if (!SCRIPT_KEYS.has(key)) return key;
  return script.type;
}

function heldCurrencies(kind: string, decoded: DecodedObject, nativeCurrencyId: string): CurrencyAmounts {
  const amounts: Record<string, bigint> = {};
  const add = (currencyId: string, amount: bigint | undefined): void => {
    if (!isKey(currencyId)) throw new RangeError(`not the id of a currency: ${JSON.stringify(currencyId)}`);
    // A native entry repeats the output's value.
    if (amount && currencyId !== nativeCurrencyId) amounts[currencyId] = (amounts[currencyId] ?? 0n) + amount;
  };
  const isTransfer = kind === 'reservetransfer';
  // A mint names the amount to create; the output itself contains only the fee.
  if (!isTransfer || ((asInteger(decoded.flags) ?? 0) & TRANSFER_FLAGS.MINT) === 0) {
    for (const [currencyId, coins] of Object.entries(asObject(decoded.currencyvalues) ?? {})) {
      add(currencyId, asSatoshis(coins));
    }
  }
  if (isTransfer) {
    const feeCurrencyId = asText(decoded.feecurrencyid) ?? nativeCurrencyId;
    add(feeCurrencyId, asSatoshis(decoded.fees));
    // The fee of the next leg, if the destination names one, is paid with the request.
    add(feeCurrencyId, asSatoshis(asObject(decoded.destination)?.fees));
  }
  return amounts;
}

/** An identity that is its own authority is listed three times, but owns the output once. */
function distinct(addresses: readonly string[]): readonly string[] {
  return addresses.length > 1 ? [...new Set(addresses)] : addresses;
}

/** The objects of a currency's definition. */
import { SATOSHIS_PER_COIN as COIN } from '../../domain/satoshi.ts';
import { NATIVE } from './addresses.ts';
import { oneFee } from './clearing.ts';
import type { Currency, Reserve } from './currency.ts';
import { SUB_IDENTITY_PRICE } from './identity-registration.ts';
import { amounts, coins, list, NULL_HASH, text } from './print.ts';

/** Paid twice: once for the launch, and once to the fee pool immediately. */
export const LAUNCH_FEE = 100n * COIN;

const FRACTIONAL_TOKEN = 33;
const TOKEN = 32;
const BY_CONTROLLER = 2;
const BY_NOBODY = 1;
const UNREACHABLE = 1_000_000_000n * COIN;
const DEFINITION_EXPORT = 65;

type Terms = Pick<
  Currency,
  'id' | 'name' | 'kind' | 'isCentralised' | 'startBlock' | 'fails' | 'initialSupply' | 'tokenPrice' | 'preallocation'
>;

/** The currencydefinition object; `contributions` are what the definer pays into a basket. */
export function definitionObject(terms: Terms, contributions: readonly Reserve[]): string {
  const { id, name, kind, isCentralised, startBlock, fails, tokenPrice, preallocation } = terms;
  const isBasket = kind === 'basket';
  const each = (value: (reserve: Reserve) => string) => list(contributions.map(value));
  const initial = ({ amount }: Reserve) => coins(amount - oneFee(amount));
  const least = fails
    ? `"minpreconversion":${isBasket ? each(() => coins(UNREACHABLE)) : list([coins(UNREACHABLE)])},`
    : '';
  const basket = () =>
    `"currencies":${each((reserve) => text(reserve.id))},"weights":${each(({ weight }) => coins(weight))},` +
    `"conversions":${each(() => coins(0n))},${least}"initialsupply":${coins(terms.initialSupply)},` +
    `"prelaunchcarveout":${coins(0n)},"initialcontributions":${each(initial)},`;
  const price = () =>
    tokenPrice > 0n ? `"currencies":["${NATIVE}"],"conversions":[${coins(tokenPrice)}],${least}` : '';
  const allocated = preallocation ? `"preallocations":[${amounts([[preallocation.to, preallocation.amount]])}],` : '';
  const initialOfToken = tokenPrice > 0n ? `"initialcontributions":[${coins(0n)}],` : '';
  return (
    `{"version":1,"options":${isBasket ? FRACTIONAL_TOKEN : TOKEN},"name":${text(name)},"currencyid":"${id}",` +
    `"parent":"${NATIVE}","systemid":"${NATIVE}","notarizationprotocol":1,` +
    `"proofprotocol":${isCentralised ? BY_CONTROLLER : BY_NOBODY},"launchsystemid":"${NATIVE}",` +
    `"startblock":${startBlock},"endblock":0,${isBasket ? basket() : `${price()}${allocated}${initialOfToken}`}` +
    `"idregistrationfees":${coins(SUB_IDENTITY_PRICE)},"idreferrallevels":3,"idimportfees":0.02000000}`
  );
}

/** The crosschainexport object that opens a currency's thread. */
export function definitionExport(id: string, height: number): string {
  const fee = amounts([[NATIVE, LAUNCH_FEE]]);
  return (
    `{"version":1,"flags":${DEFINITION_EXPORT},"sourceheightstart":0,"sourceheightend":${height - 1},"sourcesystemid":"${NATIVE}",` +
    `"destinationsystemid":"${NATIVE}","destinationcurrencyid":"${id}","numinputs":0,"totalamounts":${fee},"totalfees":${fee},` +
    `"hashtransfers":"${NULL_HASH}","totalburned":{},"rewardaddress":"","firstinput":-1}`
  );
}

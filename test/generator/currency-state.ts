/** The notarization objects that contain the state of a currency. */

import { NATIVE } from './addresses.ts';
import type { Flow } from './clearing.ts';
import type { Coin } from './coins.ts';
import { type Currency, midPrice, type Reserve } from './currency.ts';
import { amounts, coins, flag, list } from './print.ts';
import { sha256 } from './transaction.ts';

export const FRACTIONAL = 0x1;
export const PRELAUNCH = 0x2;
export const STATE_REFUNDING = 0x4;
export const LAUNCH_CLEAR = 0x8;
export const LAUNCH_CONFIRMED = 0x10;
export const LAUNCH_COMPLETE = 0x20;

export interface StateParts {
  /** Without FRACTIONAL. */
  readonly flags: number;
  readonly height: number;
  readonly supply: bigint;
  readonly reserves: readonly Reserve[];
  readonly flows?: ReadonlyMap<string, Flow>;
  readonly emitted?: bigint;
  readonly primaryFees?: bigint;
  /** Change of the supply. */
  readonly primaryOut?: bigint;
  readonly preconverted?: bigint;
  readonly isDefinition?: boolean;
}

const NO_FLOW: Flow = {
  reserveIn: 0n,
  primaryIn: 0n,
  reserveOut: 0n,
  price: 0n,
  viaPrice: 0n,
  fees: 0n,
  conversionFees: 0n,
};

type StatedCurrency = Pick<Currency, 'id' | 'kind' | 'initialSupply' | 'tokenPrice' | 'notarizedHeight'>;

/** `previous` is the notarization before it. */
export function notarizationObject(currency: StatedCurrency, previous: Coin | null, parts: StateParts): string {
  const { flags, height, isDefinition } = parts;
  return (
    `{"version":2,${flag('isdefinition', isDefinition === true)}${flag('prelaunch', (flags & PRELAUNCH) !== 0)}` +
    flag('launchcleared', (flags & (LAUNCH_CLEAR | LAUNCH_CONFIRMED | STATE_REFUNDING)) !== 0) +
    flag('refunding', (flags & STATE_REFUNDING) !== 0) +
    flag('launchconfirmed', (flags & LAUNCH_CONFIRMED) !== 0) +
    flag('launchcomplete', (flags & LAUNCH_COMPLETE) !== 0) +
    `"samechain":true,"proposer":{"undefined":"","type":0},"currencyid":"${currency.id}",` +
    `"notarizationheight":${height},"currencystate":${stateObject(currency, parts)},` +
    `"prevnotarizationtxid":"${previous?.txid ?? '0'.repeat(64)}","prevnotarizationout":${previous?.n ?? 4294967295},` +
    `"prevheight":${previous ? currency.notarizedHeight : 0},` +
    `"hashprevcrossnotarization":"${previous ? sha256(previous.txid) : '0'.repeat(64)}",` +
    `"currencystates":[],"proofroots":[],"nodes":[]}`
  );
}

function stateObject(currency: StatedCurrency, parts: StateParts): string {
  const { kind, id, initialSupply, tokenPrice } = currency;
  const { supply, reserves, flows, emitted = 0n, primaryFees = 0n, primaryOut = 0n, preconverted = 0n } = parts;
  const isBasket = kind === 'basket';
  const price: Reserve[] = tokenPrice > 0n ? [{ id: NATIVE, weight: 0n, amount: tokenPrice }] : [];
  const listed = isBasket ? reserves : price;
  const currencies = listed.map((reserve) => {
    const flow = flows?.get(reserve.id) ?? { ...NO_FLOW, price: isBasket ? midPrice(reserve, supply) : tokenPrice };
    return flowObject(reserve, flow);
  });
  return (
    `{"flags":${parts.flags | (isBasket ? FRACTIONAL : 0)},"version":1,"currencyid":"${id}",` +
    `"${isBasket ? 'reservecurrencies' : 'launchcurrencies'}":${list(listed.map((reserve) => reserveObject(reserve, isBasket ? midPrice(reserve, supply) : tokenPrice)))},` +
    `"initialsupply":${coins(initialSupply)},"emitted":${coins(emitted)},"supply":${coins(supply)},` +
    `${currencies.length > 0 ? `"currencies":{${currencies.join(',')}},` : ''}` +
    `"primarycurrencyfees":${coins(primaryFees)},"primarycurrencyconversionfees":${coins(primaryFees)},` +
    `"primarycurrencyout":${coins(primaryOut)},"preconvertedout":${coins(preconverted)}}`
  );
}

function reserveObject({ id, weight, amount }: Reserve, price: bigint): string {
  return `{"currencyid":"${id}","weight":${coins(weight)},"reserves":${coins(amount)},"priceinreserve":${coins(price)}}`;
}

function flowObject({ id, weight }: Reserve, flow: Flow): string {
  return (
    `"${id}":{"reservein":${coins(flow.reserveIn)},"primarycurrencyin":${coins(flow.primaryIn)},` +
    `"reserveout":${coins(flow.reserveOut)},"lastconversionprice":${coins(flow.price)},` +
    `"viaconversionprice":${coins(flow.viaPrice)},"fees":${coins(flow.fees)},` +
    `"conversionfees":${coins(flow.conversionFees)},"priorweights":${coins(weight)}}`
  );
}

/** The crosschainimport object. */
export function importObject(
  currencyId: string,
  flags: number,
  source: { readonly txid: string; readonly vout: number; readonly height: number },
  valueIn: ReadonlyMap<string, bigint>,
  outputs: number,
): string {
  return (
    `{"version":1,"flags":${flags},"sourcesystemid":"${NATIVE}","sourceheight":${source.height},` +
    `"importcurrencyid":"${currencyId}","valuein":${amounts(valueIn)},"tokensout":{},"numoutputs":${outputs},` +
    `"hashtransfers":"${outputs > 0 ? sha256(source.txid) : '0'.repeat(64)}","exporttxid":"${source.txid}","exporttxout":${source.vout}}`
  );
}

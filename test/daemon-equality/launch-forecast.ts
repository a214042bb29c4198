/**
 * The state that the daemon shows for a basket between its definition and its launch: the last notarised state plus the preconversions
 * that wait for the next export (AddPrelaunchConversions and NextNotarizationInfo in the daemon).
 */
import { coinsToSatoshis, type ExactNumber, SATOSHIS_PER_COIN as ONE } from '../../domain/satoshi.ts';
import { coins, type Members } from './canonical.ts';

/** A transfer that no export has gathered yet. */
export interface WaitingTransfer {
  readonly kind: string;
  readonly from_currency_id: string;
  readonly amount_in: bigint;
  readonly transfer_fee: bigint;
  readonly transfer_fee_currency_id: string;
}

interface Reserve {
  readonly currencyid: string;
  readonly weight: ExactNumber;
  readonly reserves: ExactNumber;
}

const CONVERSION_FEE = 25_000n;
const PRELAUNCH = 2;

const product = (amount: bigint, rate: bigint): bigint => (amount * rate) / ONE;

/** Reserve units for one basket token; an empty reserve counts as one coin. */
function priceInReserve(reserves: bigint, supply: bigint, weight: bigint, round: 'down' | 'up'): bigint {
  const divisor = supply * weight;
  const dividend = (reserves || ONE) * ONE * ONE;
  return (dividend + (round === 'up' ? divisor - 1n : 0n)) / divisor;
}

/** Before its first export (`isFirst`) a basket has its initial supply and no reserves. */
export function forecastLaunch(
  definition: Members,
  state: Members,
  { isFirst, waiting }: { readonly isFirst: boolean; readonly waiting: readonly WaitingTransfer[] },
): Members {
  if (waiting.some(({ kind }) => kind !== 'preconvert')) throw new Error('only preconversions wait for a launch here');
  if (definition.maxpreconversion !== undefined) throw new Error('limits of preconversions are not modelled');
  const supply = coinsToSatoshis((isFirst ? definition.initialsupply : state.supply) as ExactNumber);
  const before = state.currencies as Readonly<Record<string, Members>>;
  const reserves = (state.reservecurrencies as readonly Reserve[]).map(({ currencyid, weight, reserves }) => {
    const own = waiting.filter(({ from_currency_id }) => from_currency_id === currencyid);
    const conversionFees = sum(own.map(({ amount_in }) => product(amount_in, CONVERSION_FEE)));
    const added = sum(own.map(({ amount_in }) => amount_in)) - conversionFees;
    const transferFees = sum(
      waiting.map((transfer) => (transfer.transfer_fee_currency_id === currencyid ? transfer.transfer_fee : 0n)),
    );
    const held = (isFirst ? 0n : coinsToSatoshis(reserves)) + added;
    const earlier = isFirst ? 0n : coinsToSatoshis(before[currencyid]?.reservein as ExactNumber);
    const ratio = coinsToSatoshis(weight);
    const price = priceInReserve(held, supply, ratio, 'up');
    const out = sum(own.map(({ amount_in }) => ((amount_in - product(amount_in, CONVERSION_FEE)) * ONE) / price));
    return {
      out,
      held: {
        currencyid,
        weight,
        reserves: coins(held),
        priceinreserve: coins(priceInReserve(held, supply, ratio, 'down')),
      },
      flow: {
        reservein: coins(earlier + added),
        primarycurrencyin: coins(0n),
        reserveout: coins(0n),
        lastconversionprice: coins(price),
        viaconversionprice: coins(price),
        fees: coins(conversionFees + transferFees),
        conversionfees: coins(conversionFees),
        priorweights: weight,
      },
    };
  });
  return {
    ...state,
    flags: Number(state.flags) | PRELAUNCH,
    reservecurrencies: reserves.map(({ held }) => held),
    emitted: coins(0n),
    supply: coins(supply),
    currencies: Object.fromEntries(reserves.map(({ held, flow }) => [held.currencyid, flow])),
    primarycurrencyfees: coins(0n),
    primarycurrencyconversionfees: coins(0n),
    primarycurrencyout: coins(0n),
    preconvertedout: coins(sum(reserves.map(({ out }) => out))),
  };
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

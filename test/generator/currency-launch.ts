/** Launches: preconversions are executed or refunded. */
import { SATOSHIS_PER_COIN as COIN } from '../../domain/satoshi.ts';
import { NATIVE } from './addresses.ts';
import { type ClearingPayout, clear, type Flow, netOf } from './clearing.ts';
import { type Currency, launchPrice, type PrelaunchExport, type Reserve } from './currency.ts';
import { LAUNCH_FEE } from './currency-definition-object.ts';
import { clearLaunch, contributed, exportPrelaunch, isExportDue } from './currency-prelaunch.ts';
import { LAUNCH_CLEAR, LAUNCH_COMPLETE, LAUNCH_CONFIRMED, STATE_REFUNDING, type StateParts } from './currency-state.ts';
import { INITIAL_LAUNCH, includeImport, POST_LAUNCH, refunds, SAME_CHAIN } from './import.ts';
import type { World } from './world.ts';

/** Takes the due step of every launch. */
export function makeLaunchSteps(world: World): boolean {
  let isDue = false;
  for (const currency of world.currencies) {
    const { stage, startBlock, pending } = currency;
    if (stage === 'prelaunch' && world.height > startBlock) clearLaunch(world, currency);
    else if (stage === 'prelaunch' && pending.length > 0 && isExportDue(world, currency))
      exportPrelaunch(world, currency);
    else if (stage === 'cleared') launch(world, currency);
    else continue;
    isDue = true;
  }
  return isDue;
}

/** Makes several imports in one block: that of the definition, one for each export before the launch, and the final one. */
function launch(world: World, currency: Currency): void {
  const { journal, height } = world;
  const { kind, fails, preallocation, prelaunchExports, definition, initialSupply } = currency;
  const outcome = fails ? STATE_REFUNDING : LAUNCH_CONFIRMED;
  const allocated = !fails && preallocation ? preallocation : null;
  const prices = launchPrices(currency);
  let supply = fails ? 0n : kind === 'basket' ? initialSupply : (allocated?.amount ?? 0n);
  let reserves = currency.reserves;
  const step = (more: Partial<StateParts>): StateParts => ({
    flags: outcome,
    height: height - 3,
    supply,
    reserves,
    ...more,
  });

  includeImport(world, currency, {
    flags: INITIAL_LAUNCH | POST_LAUNCH | SAME_CHAIN,
    source: { txid: definition.txid, vout: DEFINITION_EXPORT_VOUT, height: definition.height - 1 },
    payouts: allocated ? [{ to: allocated.to, currencyId: currency.id, amount: allocated.amount }] : [],
    fees: LAUNCH_FEE,
    reserves,
    spendsFinalize: false,
    splitsDeposits: true,
    state: step({
      flags: outcome | LAUNCH_CLEAR,
      emitted: allocated?.amount ?? 0n,
      primaryOut: allocated?.amount ?? 0n,
    }),
  });
  for (const gathered of prelaunchExports) {
    const executed = executePrelaunch(currency, gathered, { supply, reserves, prices });
    ({ supply, reserves } = executed);
    includeImport(world, currency, {
      flags: POST_LAUNCH | SAME_CHAIN,
      source: gathered,
      payouts: executed.payouts,
      fees: executed.fees,
      reserves,
      spendsFinalize: false,
      state: step({ flows: executed.flows, primaryOut: executed.issued, preconverted: executed.issued }),
    });
  }
  includeImport(world, currency, {
    flags: POST_LAUNCH | SAME_CHAIN,
    source: { txid: currency.exportCoin.txid, vout: currency.exportCoin.n, height: height - 3 },
    payouts: [],
    fees: 0n,
    reserves,
    spendsFinalize: true,
    state: step({ flags: outcome | LAUNCH_COMPLETE }),
  });
  journal.set(currency, 'stage', fails ? 'refunded' : 'live');
  journal.set(currency, 'exportedHeight', height);
}

/** Output of a definition that the first import names as its export. */
const DEFINITION_EXPORT_VOUT = 4;

interface Executed {
  readonly payouts: readonly ClearingPayout[];
  readonly fees: bigint;
  readonly supply: bigint;
  readonly reserves: readonly Reserve[];
  readonly issued: bigint;
  readonly flows: ReadonlyMap<string, Flow>;
}

function executePrelaunch(
  currency: Currency,
  { transfers }: PrelaunchExport,
  { supply, reserves, prices }: { supply: bigint; reserves: readonly Reserve[]; prices: ReadonlyMap<string, bigint> },
): Executed {
  const fees = transfers.reduce((sum, { fee }) => sum + fee, 0n);
  const unchanged = { supply, reserves, issued: 0n, flows: new Map() };
  if (currency.fails) return { ...unchanged, payouts: refunds(transfers), fees };
  if (currency.kind === 'basket') {
    const cleared = clear({ id: currency.id, supply, reserves }, transfers, prices);
    if (!cleared) throw new RangeError(`${currency.id} cannot be launched`);
    return {
      payouts: cleared.payouts,
      fees: cleared.fees,
      supply,
      reserves: cleared.after.reserves,
      issued: cleared.preconverted,
      flows: cleared.flows,
    };
  }
  // The currency's own identity gets the payment, right before the tokens are paid out.
  const payouts = transfers.flatMap((transfer) => [
    { to: currency.id, currencyId: NATIVE, amount: netOf(transfer) },
    { to: transfer.destination, currencyId: currency.id, amount: (netOf(transfer) * COIN) / currency.tokenPrice },
  ]);
  const issued = payouts.reduce((sum, { currencyId, amount }) => (currencyId === NATIVE ? sum : sum + amount), 0n);
  const conversionFees = transfers.reduce((sum, transfer) => sum + transfer.amount - netOf(transfer), 0n);
  return { ...unchanged, payouts, fees: fees + conversionFees, supply: supply + issued, issued };
}

function launchPrices(currency: Currency): ReadonlyMap<string, bigint> {
  const { initialSupply, prelaunchExports } = currency;
  return new Map(
    contributed(currency, prelaunchExports).map((reserve) => [reserve.id, launchPrice(reserve, initialSupply)]),
  );
}

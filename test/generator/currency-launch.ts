/** From the definition to the launch: preconversions are exported, counted, and executed or given back. */
import { NATIVE } from './addresses.ts';
import { clear, type Flow, netOf, type Payout } from './clearing.ts';
import { type Currency, launchPrice, type PrelaunchExport, type Reserve } from './currency.ts';
import {
  LAUNCH_CLEAR,
  LAUNCH_COMPLETE,
  LAUNCH_CONFIRMED,
  notarizationObject,
  PRELAUNCH,
  STATE_REFUNDING,
  type StateParts,
} from './currency-state.ts';
import { holdDeposit, holdExport, holdFinalize } from './export.ts';
import { INITIAL_LAUNCH, includeImport, POST_LAUNCH, refunds, SAME_CHAIN } from './import.ts';
import { controlScript } from './scripts.ts';
import { openDraft } from './transaction.ts';
import type { World } from './world.ts';

const COIN = 100_000_000n;
const LAUNCH_FEE = 100n * COIN;
const ENOUGH_TRANSFERS = 5;
const EXPORT_PRELAUNCH = 1;
const EXPORT_CLEARS_LAUNCH = 2;

/** What is due of every launch. */
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

/** The last chance is the start block itself. */
const isExportDue = ({ height, random }: World, { pending, startBlock }: Currency): boolean =>
  height === startBlock || pending.length >= ENOUGH_TRANSFERS || random.oneIn(4);

function exportPrelaunch(world: World, currency: Currency): void {
  const { journal, height } = world;
  const { id, pending } = currency;
  const draft = openDraft(world);
  draft.spend(currency.exportCoin);
  for (const { coin } of pending) draft.spend(coin);
  draft.spend(currency.notarizationCoin);
  const deposit = holdDeposit(world, draft, id, pending);
  const exported = holdExport(world, draft, currency, { flags: EXPORT_PRELAUNCH, transfers: pending });
  const gathered = { txid: draft.txid, vout: exported.n, height: height - 1, transfers: pending };
  const exports = [...currency.prelaunchExports, gathered];
  const state = { ...launchState(currency, exports, PRELAUNCH), height: height - 1 };
  const notarized = draft.hold(
    0n,
    controlScript('acceptednotarization', notarizationObject(currency, currency.notarizationCoin, state), id),
  );
  const apply = (): void => {
    journal.set(currency, 'pending', []);
    journal.set(currency, 'exportCoin', exported);
    journal.set(currency, 'notarizationCoin', notarized);
    journal.set(currency, 'prelaunchExports', exports);
    journal.set(currency, 'exportedHeight', height - 1);
    journal.set(currency, 'notarizedHeight', height - 1);
    journal.set(currency, 'deposits', [...currency.deposits, deposit]);
  };
  world.include(draft.finish({ expiryHeight: height + 20, apply }));
}

/** Decides whether there is a launch. */
function clearLaunch(world: World, currency: Currency): void {
  const { journal, height } = world;
  const draft = openDraft(world);
  draft.spend(currency.exportCoin);
  draft.spend(currency.notarizationCoin);
  const flags = EXPORT_PRELAUNCH | EXPORT_CLEARS_LAUNCH;
  const exported = holdExport(world, draft, currency, { flags, transfers: [] });
  const finalize = holdFinalize(draft, currency.id, exported.n);
  const decided = PRELAUNCH | LAUNCH_CLEAR | (currency.fails ? STATE_REFUNDING : LAUNCH_CONFIRMED);
  const state = { ...launchState(currency, currency.prelaunchExports, decided), height: height - 2 };
  const notarized = draft.hold(
    0n,
    controlScript('acceptednotarization', notarizationObject(currency, currency.notarizationCoin, state), currency.id),
  );
  const apply = (): void => {
    journal.set(currency, 'stage', 'cleared');
    journal.set(currency, 'exportCoin', exported);
    journal.set(currency, 'finalizeCoin', finalize);
    journal.set(currency, 'notarizationCoin', notarized);
    journal.set(currency, 'notarizedHeight', height - 2);
  };
  world.include(draft.finish({ expiryHeight: height + 20, apply }));
}

/** Several imports of one block: the definition's, one for each export before the launch, and the one that ends it. */
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

/** Output of a definition that its first import names as its export. */
const DEFINITION_EXPORT_VOUT = 4;

interface Executed {
  readonly payouts: readonly Payout[];
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
  // The currency's own identity gets what was paid, right before the tokens.
  const payouts = transfers.flatMap((transfer) => [
    { to: currency.id, currencyId: NATIVE, amount: netOf(transfer) },
    { to: transfer.destination, currencyId: currency.id, amount: (netOf(transfer) * COIN) / currency.tokenPrice },
  ]);
  const issued = payouts.reduce((sum, { currencyId, amount }) => (currencyId === NATIVE ? sum : sum + amount), 0n);
  const conversionFees = transfers.reduce((sum, transfer) => sum + transfer.amount - netOf(transfer), 0n);
  return { ...unchanged, payouts, fees: fees + conversionFees, supply: supply + issued, issued };
}

/** Reserves that count are what preconverters put in, without fees. */
function contributed(currency: Currency, exports: readonly PrelaunchExport[]): Reserve[] {
  return currency.reserves.map((reserve) => {
    const put = exports.flatMap(({ transfers }) => transfers).filter(({ from }) => from === reserve.id);
    return { ...reserve, amount: put.reduce((sum, transfer) => sum + netOf(transfer), 0n) };
  });
}

function launchPrices(currency: Currency): ReadonlyMap<string, bigint> {
  const { initialSupply, prelaunchExports } = currency;
  return new Map(
    contributed(currency, prelaunchExports).map((reserve) => [reserve.id, launchPrice(reserve, initialSupply)]),
  );
}

function launchState(
  currency: Currency,
  exports: readonly PrelaunchExport[],
  flags: number,
): Omit<StateParts, 'height'> {
  const { kind, initialSupply, preallocation } = currency;
  const isRefunding = (flags & STATE_REFUNDING) !== 0;
  const supply = kind === 'basket' ? initialSupply : (preallocation?.amount ?? 0n);
  const reserves = contributed(currency, exports);
  return isRefunding
    ? { flags, supply: 0n, reserves: reserves.map((reserve) => ({ ...reserve, amount: 0n })) }
    : { flags, supply, reserves };
}

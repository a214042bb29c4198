/** Before the launch: preconversions are exported and counted, until the start block has passed. */

import { netOf } from './clearing.ts';
import type { Currency, PrelaunchExport, Reserve } from './currency.ts';
import {
  LAUNCH_CLEAR,
  LAUNCH_CONFIRMED,
  notarizationObject,
  PRELAUNCH,
  STATE_REFUNDING,
  type StateParts,
} from './currency-state.ts';
import { holdDeposit, holdExport, holdFinalize } from './export.ts';
import { controlScript } from './scripts.ts';
import { openDraft } from './transaction.ts';
import type { World } from './world.ts';

const ENOUGH_TRANSFERS = 5;
const EXPORT_PRELAUNCH = 1;
const EXPORT_CLEARS_LAUNCH = 2;

/** The last chance is the start block itself. */
export const isExportDue = ({ height, random }: World, { pending, startBlock }: Currency): boolean =>
  height === startBlock || pending.length >= ENOUGH_TRANSFERS || random.oneIn(4);

export function exportPrelaunch(world: World, currency: Currency): void {
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

/** Decides whether the currency is launched. */
export function clearLaunch(world: World, currency: Currency): void {
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

/** The reserves are the contributions of preconverters, without fees. */
export function contributed(currency: Currency, exports: readonly PrelaunchExport[]): Reserve[] {
  return currency.reserves.map((reserve) => {
    const put = exports.flatMap(({ transfers }) => transfers).filter(({ from }) => from === reserve.id);
    return { ...reserve, amount: put.reduce((sum, transfer) => sum + netOf(transfer), 0n) };
  });
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

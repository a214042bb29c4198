/** Exports of launched currencies that are due, each with its import in the same block. */
import { clear } from './clearing.ts';
import type { Currency } from './currency.ts';
import { LAUNCH_COMPLETE, LAUNCH_CONFIRMED } from './currency-state.ts';
import { exportTransfers, type Gathered } from './export.ts';
import { includeImport, POST_LAUNCH, refunds, SAME_CHAIN } from './import.ts';
import { makePayment } from './payments.ts';
import type { PendingTransfer } from './transfer-request.ts';
import type { World } from './world.ts';

const MANY_TRANSFERS = 10;
const MANY_BLOCKS = 10;
/** One of this many imports is refunded as a whole. */
const UNSOLVED = 25;
const LIVE = LAUNCH_CONFIRMED | LAUNCH_COMPLETE;

export function makeExportsAndImports(world: World): boolean {
  const { random, height } = world;
  const due = world.currencies.filter(
    ({ stage, pending, exportedHeight }) =>
      stage === 'live' &&
      pending.length > 0 &&
      (pending.length >= MANY_TRANSFERS || height - exportedHeight >= MANY_BLOCKS || random.oneIn(6)),
  );
  for (const currency of due) {
    for (const transfers of parts(world, currency.pending)) {
      const gathered = exportTransfers(world, currency, transfers);
      if (random.oneIn(3)) makePayment(world);
      if (currency.kind === 'basket') importIntoBasket(world, currency, gathered);
      else importIntoToken(world, currency, gathered);
    }
  }
  return due.length > 0;
}

/** Exports all transfers at once, occasionally in two exports of one block. */
function parts({ random }: World, pending: readonly PendingTransfer[]): (readonly PendingTransfer[])[] {
  if (pending.length < 2 || !random.oneIn(4)) return [pending];
  const cut = 1 + random.below(pending.length - 1);
  return [pending.slice(0, cut), pending.slice(cut)];
}

const transferFees = (transfers: readonly PendingTransfer[]): bigint =>
  transfers.reduce((sum, { fee }) => sum + fee, 0n);

function importIntoBasket(world: World, currency: Currency, gathered: Gathered): void {
  const { id, supply, reserves } = currency;
  // The daemon, too, gives up when its own solution is not valid.
  const solved = world.random.oneIn(UNSOLVED) ? null : clear({ id, supply, reserves }, gathered.transfers);
  const cleared = solved ?? burnsAlone(currency, gathered);
  const { payouts, flows, after, fees, primaryFees } = cleared;
  includeImport(world, currency, {
    flags: POST_LAUNCH | SAME_CHAIN,
    source: gathered,
    payouts,
    fees,
    reserves: after.reserves,
    spendsFinalize: true,
    state: {
      flags: LIVE,
      height: gathered.height,
      supply: after.supply,
      reserves: after.reserves,
      flows,
      primaryFees,
      primaryOut: after.supply - supply,
    },
  });
}

/** An import in which nothing can be converted: everything except burns is refunded. */
function burnsAlone({ id, supply, reserves }: Currency, { transfers }: Gathered) {
  const burns = transfers.filter(({ kind }) => kind === 'burn').map((burn) => ({ ...burn, fee: 0n }));
  const cleared = clear({ id, supply, reserves }, burns);
  if (!cleared) throw new RangeError(`${id} cannot bear its burns`);
  return { ...cleared, payouts: refunds(transfers), fees: transferFees(transfers) };
}

function importIntoToken(world: World, currency: Currency, gathered: Gathered): void {
  const { id, supply } = currency;
  const mints = gathered.transfers.filter(({ kind }) => kind === 'mint');
  const sum = (transfers: readonly PendingTransfer[]) => transfers.reduce((total, { amount }) => total + amount, 0n);
  const minted = sum(mints);
  const change = minted - sum(gathered.transfers.filter(({ kind }) => kind === 'burn'));
  includeImport(world, currency, {
    flags: POST_LAUNCH | SAME_CHAIN,
    source: gathered,
    payouts: mints.map(({ destination, amount }) => ({ to: destination, currencyId: id, amount })),
    fees: transferFees(gathered.transfers),
    reserves: [],
    spendsFinalize: true,
    state: {
      flags: LIVE,
      height: gathered.height,
      supply: supply + change,
      reserves: [],
      emitted: minted,
      primaryOut: change,
    },
  });
}

/** Exports: pending transfers that a block's producer gathers. */
import { keyAddress, NATIVE } from './addresses.ts';
import { netOf } from './clearing.ts';
import type { Coin } from './coins.ts';
import type { Currency } from './currency.ts';
import { leafName } from './funds.ts';
import { amounts, NULL_HASH } from './print.ts';
import { controlScript } from './scripts.ts';
import { type Draft, openDraft, sha256 } from './transaction.ts';
import type { PendingTransfer } from './transfer-request.ts';
import type { World } from './world.ts';

export interface Gathered {
  readonly txid: string;
  readonly vout: number;
  /** Newest block whose transfers it gathers. */
  readonly height: number;
  readonly transfers: readonly PendingTransfer[];
}

const POST_LAUNCH = 0x80;

/** Exports transfers of a launched currency, and locks their amounts. */
export function exportTransfers(world: World, currency: Currency, transfers: readonly PendingTransfer[]): Gathered {
  const { journal } = world;
  const draft = openDraft(world);
  draft.spend(currency.exportCoin);
  for (const { coin } of transfers) draft.spend(coin);
  const deposit = holdDeposit(world, draft, currency.id, transfers);
  const exported = holdExport(world, draft, currency, { flags: POST_LAUNCH, transfers });
  const finalize = holdFinalize(draft, currency.id, exported.n);
  const apply = (): void => {
    const left = currency.pending.filter((transfer) => !transfers.includes(transfer));
    journal.set(currency, 'pending', left);
    journal.set(currency, 'exportedHeight', world.height);
    journal.set(currency, 'exportCoin', exported);
    journal.set(currency, 'finalizeCoin', finalize);
    journal.set(currency, 'deposits', [...currency.deposits, deposit]);
  };
  world.include(draft.finish({ expiryHeight: world.height + 20, apply }));
  return { txid: draft.txid, vout: exported.n, height: world.height - 1, transfers };
}

/** Deposits the amounts of the transfers for `currencyId` until their import. */
export function holdDeposit(
  world: World,
  draft: Draft,
  currencyId: string,
  transfers: readonly PendingTransfer[],
): Coin {
  const tokens = new Map<string, bigint>();
  let value = 0n;
  for (const { coin } of transfers) {
    value += coin.value;
    for (const [id, amount] of coin.tokens) tokens.set(id, (tokens.get(id) ?? 0n) + amount);
  }
  return draft.hold(value, depositScript(world, currencyId, value, tokens), tokens);
}

export function depositScript(world: World, currencyId: string, value: bigint, tokens: ReadonlyMap<string, bigint>) {
  const held = value > 0n ? [[NATIVE, value] as const, ...tokens] : [...tokens];
  const object = `{"version":1,"currencyvalues":${amounts(held)},"controllingcurrencyid":"${currencyId}"}`;
  return controlScript('reservedeposit', object, currencyId, { tokens, nameOf: (id) => leafName(world, id) });
}

/** `transfers` are the inputs from the second on. */
export function holdExport(
  world: World,
  draft: Draft,
  { id, exportedHeight }: Pick<Currency, 'id' | 'exportedHeight'>,
  { flags, transfers }: { readonly flags: number; readonly transfers: readonly PendingTransfer[] },
): Coin {
  const total = new Map<string, bigint>();
  const fees = new Map<string, bigint>();
  const add = (sums: Map<string, bigint>, currencyId: string, amount: bigint): void => {
    if (amount > 0n) sums.set(currencyId, (sums.get(currencyId) ?? 0n) + amount);
  };
  for (const transfer of transfers) {
    if (transfer.kind !== 'mint') {
      add(total, transfer.from, transfer.amount);
      add(fees, transfer.from, transfer.amount - netOf(transfer));
    }
    add(total, NATIVE, transfer.fee);
    add(fees, NATIVE, transfer.fee);
  }
  const object =
    `{"version":1,"flags":${flags},"sourceheightstart":${exportedHeight + 1},"sourceheightend":${world.height - 1},` +
    `"sourcesystemid":"${NATIVE}","destinationsystemid":"${NATIVE}","destinationcurrencyid":"${id}",` +
    `"numinputs":${transfers.length},"totalamounts":${amounts(total)},"totalfees":${amounts(fees)},` +
    `"hashtransfers":"${transfers.length > 0 ? sha256(draft.txid) : NULL_HASH}","totalburned":{},` +
    `"rewardaddress":"${keyAddress(world.random.below(world.addresses)).address}","firstinput":1}`;
  return draft.hold(0n, controlScript('crosschainexport', object, id));
}

/** Waits for the import of the export at `vout` of the same transaction. */
export function holdFinalize(draft: Draft, currencyId: string, vout: number): Coin {
  const object =
    `{"finalizationtype":2,"status":"pending","currencyid":"${NATIVE}",` +
    `"output":{"txid":"${NULL_HASH}","voutnum":${vout}}}`;
  return draft.hold(0n, controlScript('finalizeexport', object, currencyId));
}

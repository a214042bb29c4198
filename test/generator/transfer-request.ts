/** Reserve transfers: a sender's requests to the protocol. */
import { NATIVE } from './addresses.ts';
import { type Coin, NO_TOKENS, type Tokens } from './coins.ts';
import { leafName } from './funds.ts';
import { amounts, coins, flag } from './print.ts';
import { controlScript } from './scripts.ts';
import type { Draft } from './transaction.ts';
import type { World } from './world.ts';

export interface GeneratedTerms {
  readonly kind: 'convert' | 'via' | 'preconvert' | 'contribution' | 'burn' | 'mint';
  /** The currency that executes it. */
  readonly by: string;
  /** For a mint the native coin, which is not spent. */
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  readonly destination: string;
  /** A burn that pays for an identity. */
  readonly isIdentityFee?: boolean;
}

export interface PendingTransfer extends GeneratedTerms {
  readonly coin: Coin;
  /** In native coins. */
  readonly fee: bigint;
}

export const TRANSFER_FEE = 20_000n;
/** A longer destination costs more. */
const AUXILIARY_FEE = 10n;

const VALID = 0x1;
const CONVERT = 0x2;
const PRECONVERT = 0x4;
const MINT = 0x20;
const BURN = 0x80;
const IMPORT_TO_SOURCE = 0x200;
const RESERVE_TO_RESERVE = 0x400;

const TO_KEY = 2;
const TO_IDENTITY = 4;
const WITH_AUXILIARY = 64;

/** Returns what the sender has to pay: the amount and the fee. */
export function transferCost({ kind, from, amount }: GeneratedTerms): { value: bigint; tokens: Tokens } {
  const most = TRANSFER_FEE + AUXILIARY_FEE;
  if (kind === 'mint') return { value: most, tokens: NO_TOKENS };
  return from === NATIVE
    ? { value: most + amount, tokens: NO_TOKENS }
    : { value: most, tokens: new Map([[from, amount]]) };
}

/** Adds the output to the draft. The caller adds the transfer to the pending transfers of `terms.by`. */
export function requestTransfer(world: World, draft: Draft, terms: GeneratedTerms): PendingTransfer {
  const hasAuxiliary = terms.kind !== 'contribution' && world.random.oneIn(3);
  const fee = TRANSFER_FEE + (hasAuxiliary ? AUXILIARY_FEE : 0n);
  const { value, tokens } = transferCost({ ...terms });
  const object = transferObject(terms, fee, hasAuxiliary);
  const script = controlScript('reservetransfer', object, '', { tokens, nameOf: (id) => leafName(world, id) });
  const held = value - TRANSFER_FEE - AUXILIARY_FEE + fee;
  return { ...terms, fee, coin: draft.hold(held, script, tokens) };
}

function flagsOf({ kind, by, from, isIdentityFee }: GeneratedTerms): number {
  const toSource = from === by && !isIdentityFee ? IMPORT_TO_SOURCE : 0;
  switch (kind) {
    case 'convert':
      return VALID | CONVERT | toSource;
    case 'via':
      return VALID | CONVERT | RESERVE_TO_RESERVE;
    case 'preconvert':
      return VALID | CONVERT | PRECONVERT;
    case 'contribution':
      return VALID | PRECONVERT;
    case 'mint':
      return VALID | MINT;
    case 'burn':
      return VALID | BURN | toSource;
  }
}

function transferObject(terms: GeneratedTerms, fee: bigint, hasAuxiliary: boolean): string {
  const { from, to, by, amount, destination } = terms;
  const flags = flagsOf(terms);
  const type = destination.startsWith('i') ? TO_IDENTITY : TO_KEY;
  const auxiliary = hasAuxiliary ? `"auxdests":[{"address":"${destination}","type":${type}}],` : '';
  return (
    `{"version":1,"currencyvalues":${amounts([[from, amount]])},"flags":${flags},` +
    flag('importtosource', (flags & IMPORT_TO_SOURCE) !== 0) +
    flag('convert', (flags & CONVERT) !== 0) +
    flag('preconvert', (flags & PRECONVERT) !== 0) +
    flag('reservetoreserve', (flags & RESERVE_TO_RESERVE) !== 0) +
    flag('burnchangeprice', (flags & BURN) !== 0) +
    flag('mint', (flags & MINT) !== 0) +
    `"feecurrencyid":"${NATIVE}","fees":${coins(fee)},"destinationcurrencyid":"${to}",` +
    `${flags & RESERVE_TO_RESERVE ? `"via":"${by}",` : ''}` +
    `"destination":{"address":"${destination}",${auxiliary}"type":${type + (hasAuxiliary ? WITH_AUXILIARY : 0)}}}`
  );
}

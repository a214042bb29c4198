/** Reads the value of an output without the processors, so that it can be compared with theirs. */

import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { DaemonOutput } from '../../schemas/verusd/block.ts';
import { isObject } from './shape.ts';

export interface HeldOutput {
  readonly value: bigint;
  /** Without the native coin. */
  readonly tokens: ReadonlyMap<string, bigint>;
  /** Currency to whose reserves it belongs. */
  readonly depositOf: string | null;
}

const MINT = 0x20;
const HOLDERS = ['reserveoutput', 'reservedeposit', 'commitmenthash', 'reservetransfer'];

export function heldOutput({ valueSat, scriptPubKey }: DaemonOutput, native: string): HeldOutput {
  const tokens = new Map<string, bigint>();
  let depositOf: string | null = null;
  for (const kind of HOLDERS) {
    const decoded = scriptPubKey[kind];
    if (!isObject(decoded)) continue;
    const { currencyvalues, flags, fees, feecurrencyid, destination, controllingcurrencyid } = decoded;
    const add = (id: string, coins: unknown): void => {
      const amount = coinsToSatoshis(coins as string);
      if (id !== native && amount !== 0n) tokens.set(id, (tokens.get(id) ?? 0n) + amount);
    };
    if (isObject(currencyvalues) && !(Number(flags ?? 0) & MINT)) {
      for (const [id, coins] of Object.entries(currencyvalues)) add(id, coins);
    }
    if (kind === 'reservetransfer' && typeof feecurrencyid === 'string') {
      add(feecurrencyid, fees);
      if (isObject(destination) && destination.fees !== undefined) add(feecurrencyid, destination.fees);
    }
    if (typeof controllingcurrencyid === 'string') depositOf = controllingcurrencyid;
  }
  return { value: BigInt(String(valueSat)), tokens, depositOf };
}

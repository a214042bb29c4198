/** The newest block of each chain that this page knows of. */
import { signal } from '@preact/signals';
import { laneOf } from './lanes.ts';
import { chainNames } from './service.ts';

export interface Tip {
  readonly height: number;
  readonly hash: string;
  /** Time of the block in milliseconds since the epoch; null until it is known. */
  readonly time: number | null;
}

export const tips = signal<Readonly<Record<string, Tip>>>({});

/** Parses X-Chain-State: comma-separated `vrsc;height=1;hash="…"`. */
export function chainsOf(state: string): { readonly name: string; readonly height: number; readonly hash: string }[] {
  return [...state.matchAll(/([\w-]+);height=(\d+);hash="([0-9a-f]+)"/g)].map(([, name = '', height, hash = '']) => ({
    name,
    height: Number(height),
    hash,
  }));
}

/** `askedAt`: when the answer was requested, in milliseconds since the epoch. */
export function noteChainState(state: string, askedAt: number): void {
  for (const { name, height, hash } of chainsOf(state)) noteTip(name, { height, hash, time: null }, askedAt);
}

/** `askedAt`: as above for a block of an answer; null for a block of the stream, which replaces even a higher tip after a reorganisation. */
export function noteTip(chain: string, tip: Tip, askedAt: number | null): void {
  if (!chainNames.includes(chain)) return;
  const known = tips.value[chain];
  if (askedAt !== null && ((known?.height ?? 0) > tip.height || mayBeReverted(chain, askedAt))) return;
  if (known?.hash === tip.hash && tip.time === null) return;
  tips.value = { ...tips.value, [chain]: tip };
}

/** An answer that was requested before the newest reorganisation may be of the branch that it removed. */
function mayBeReverted(chain: string, askedAt: number): boolean {
  const [newest] = laneOf(chain).reverted;
  return newest !== undefined && newest.at > askedAt;
}

/** The newest block of each chain that this page knows of. */
import { signal } from '@preact/signals';
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

export function noteChainState(state: string): void {
  for (const { name, height, hash } of chainsOf(state)) noteTip(name, { height, hash, time: null });
}

/** `isNewer`: replaces the known tip even if that is higher, as after a reorganisation. */
export function noteTip(chain: string, tip: Tip, isNewer = false): void {
  if (!chainNames.includes(chain)) return;
  const known = tips.value[chain];
  if (known && !isNewer && known.height > tip.height) return;
  if (known?.hash === tip.hash && tip.time === null) return;
  tips.value = { ...tips.value, [chain]: tip };
}

/** State of the chains as shown in answers. */
import type { BlockRef } from '../../domain/block-ref.ts';
import { finalizedHeight } from '../../domain/finality.ts';
import type { ApiContext } from '../api-context.ts';
import type { ServiceState } from './service-state.ts';

/** Prints the block that an answer was computed at, of one chain or of all: `vrsc;height=1;hash="…";finalized=0`. */
export function chainState(api: Pick<ApiContext, 'chain'>, { derived }: ServiceState, chain: string | null): string {
  const included = chain === null ? [...derived] : [...derived].filter(([name]) => name === chain);
  return included.map(([name, block]) => blockState(api, name, block)).join(', ');
}

/** Prints the part of one chain. */
export function blockState(api: Pick<ApiContext, 'chain'>, chain: string, { height, hash }: BlockRef): string {
  return `${chain};height=${height};hash="${hash}";finalized=${finalizedHeight(height, api.chain(chain).finalityDepth)}`;
}

/** Returns whether no rewind can reach a height. */
export function isFinal(api: ApiContext, { derived }: ServiceState, chain: string, height: number): boolean {
  const tip = derived.get(chain)?.height;
  return tip !== undefined && height <= finalizedHeight(tip, api.chain(chain).finalityDepth);
}

/** Returns whether an earlier answer is only outdated, not wrong: no rewind can reach its blocks, and nothing was derived or priced again. */
export function isBehind({ config, watch }: Pick<ApiContext, 'config' | 'watch'>, earlier: ServiceState): boolean {
  if (earlier.generation !== watch.state.generation || earlier.redrives !== watch.state.redrives) return false;
  const moved = config.chains.filter(
    ({ name }) => earlier.derived.get(name)?.hash !== watch.state.derived.get(name)?.hash,
  );
  return (
    moved.length > 0 &&
    moved.every(({ name, finalityDepth }) => {
      const tail = watch.statuses.of(name, 'tail');
      const known = tail?.targetHeight ?? tail?.height ?? 0;
      return (earlier.derived.get(name)?.height ?? 0) <= finalizedHeight(known, finalityDepth);
    })
  );
}

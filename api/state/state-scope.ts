/** Every ETag depends on the release and on the settings that change answers, in addition to the state of the stores. */
import type { Config } from '../../schemas/config.ts';
import type { StateScope } from './service-state.ts';

type Settings = Pick<Config, 'chains' | 'marks' | 'minListedDepthUsd'>;

export function stateScope(release: string, { chains, marks, minListedDepthUsd }: Settings): StateScope {
  // Only these members: an ETag must not depend on addresses of daemons, which contain passwords.
  const shown = chains.map(({ name, rootCurrency, networkRoot, stableAnchors, blockSeconds, finalityDepth }) => {
    return [name, rootCurrency, networkRoot, stableAnchors, blockSeconds, finalityDepth];
  });
  const settings = JSON.stringify([shown, marks, minListedDepthUsd]);
  return { release: `${release} ${settings}`, chains: new Set(chains.map(({ name }) => name)) };
}

/** /api/identity/:nameOrId/multimap */
import { parseExact } from '../../schemas/exact-json.ts';
import { identityMultimap } from '../../schemas/rest/identities.ts';
import type { ApiContext } from '../api-context.ts';
import { ApiError } from '../http/api-error.ts';
import { chainParameter, queryParameter } from '../http/parameters.ts';
import { stateRoute } from '../http/route.ts';
import { tipHeight } from './blocks.ts';
import { heightParameter, identityParameter } from './identities.ts';
import { addressOfIdentity, identityAt } from './identity-rows.ts';
import { contentOf, decodeContent, keyParameter, type Multimap, withKey } from './multimap-content.ts';

const TIMEOUT_MS = 10_000;

/** All updates merged: removals refer to hashes of values, which the daemon knows how to make. */
async function aggregate(api: ApiContext, chain: string, address: string, height: number): Promise<Multimap> {
  const daemon = api.daemons.get(chain);
  if (!daemon) throw new ApiError('daemon_error', `no daemon of ${chain} is configured here`);
  const answer = await daemon.call('getidentitycontent', [address, 0, height], { timeoutMs: TIMEOUT_MS });
  return contentOf((answer as { readonly identity: Readonly<Record<string, unknown>> }).identity);
}

const multimap = stateRoute({
  path: '/api/identity/:nameOrId/multimap',
  summary: 'Content of an identity: what its newest update carried, or all updates merged',
  parameters: {
    nameOrId: identityParameter,
    chain: chainParameter,
    height: heightParameter,
    key: keyParameter,
    mode: queryParameter('latest: of the newest update; aggregate: of all updates', {
      type: 'string',
      enum: ['latest', 'aggregate'],
      default: 'latest',
    }),
  },
  response: identityMultimap,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain, mode, key } = params;
    const tip = tipHeight(read, chain);
    const height = Math.min(params.height || tip, tip);
    const address = await addressOfIdentity(read, api, chain, params.nameOrId);
    const row = await identityAt(read, chain, address, height, params.nameOrId);
    return async () => {
      const latest = contentOf(parseExact(row.state) as Record<string, unknown>);
      const whole = mode === 'latest' ? latest : await aggregate(api, chain, address, height);
      const contentmultimap = withKey(whole, key, api, chain);
      return { identityAddress: address, height, mode, contentmultimap, decoded: decodeContent(contentmultimap) };
    };
  },
});

export const identityContentRoutes = [multimap];

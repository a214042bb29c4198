/** /api/identity/:nameOrId/multimap */

import { parseShallow } from '../../../domain/json/shallow-json.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, jsonReader, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { ApiError, parameterError } from '../../http/api-error.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { NUMBERS, refuseEmptyRange } from '../../http/ranges.ts';
import { stateRoute } from '../../http/route.ts';
import { writtenHeight } from '../../schema/json-schema.ts';
import { atHeightParameter, knownHeight } from '../../state/block-at.ts';
import { inTurns } from '../../state/in-turns.ts';
import { ALLOWED, measuredRows } from '../../state/measured-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { createContentFold } from './aggregate-content.ts';
import { identityAt } from './identity-rows.ts';
import { contentOf, decodeContent, keyParameter, type Multimap, withKey } from './multimap-content.ts';
import { identityParameter } from './routes.ts';
import { identityMultimap } from './schema.ts';

const UPDATES = {
  columns: 'state, content_hashes',
  bytes: 'octet_length(state::text) + coalesce(octet_length(content_hashes::text), 0)',
  from: 'FROM identities WHERE chain = $1 AND identity_address = $2 AND from_height BETWEEN $3 AND $4',
  order: 'from_height, tx_index, vout',
};

const readUpdate = rowReader({
  ...storedColumns(DEFINITIONS.identity, ['state', 'contentHashes']),
});
/** Hashes of the values, by key. */
const readHashes = jsonReader(columns.record(columns.texts));

/**
 * Returns the content that remains after the updates between two heights, both included.
 * @throws ApiError answer_too_large
 */
export async function contentOver(
  read: Pick<Snapshot, 'rows'>,
  chain: string,
  address: string,
  from: number,
  to: number,
): Promise<Multimap> {
  const rows = await measuredRows(read, readUpdate, { ...UPDATES, values: [chain, address, from, to] });
  if (rows === null) {
    const detail = `the content is merged of at most ${ALLOWED}: ask for fewer heights with fromHeight and height`;
    throw new ApiError('answer_too_large', detail);
  }
  const fold = createContentFold();
  await inTurns(rows, ({ state, content_hashes: hashes }) =>
    fold.add({
      content: contentOf(parseShallow(state) as Record<string, unknown>),
      hashes: hashes === null ? null : readHashes(hashes),
    }),
  );
  return fold.content();
}

const multimap = stateRoute({
  path: '/api/identity/:nameOrId/multimap',
  summary: 'Content of an identity: that of its newest update, or of all updates merged',
  parameters: {
    nameOrId: identityParameter,
    chain: chainParameter,
    height: atHeightParameter,
    fromHeight: queryParameter('Only with mode aggregate: only updates from this height on', writtenHeight),
    key: keyParameter,
    mode: queryParameter(
      `latest: of the newest update; aggregate: of all updates, at most ${ALLOWED}, less what they removed`,
      {
        type: 'string',
        enum: ['latest', 'aggregate'],
        default: 'latest',
      },
    ),
  },
  response: identityMultimap,
  weight: 2,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain, mode, key, fromHeight } = params;
    if (fromHeight !== undefined && mode !== 'aggregate') {
      throw parameterError('fromHeight', 'fromHeight is only for mode aggregate');
    }
    refuseEmptyRange(NUMBERS, ['fromHeight', fromHeight], ['height', params.height]);
    const height = knownHeight(read, chain, params.height);
    const row = await identityAt(read, api, chain, params.nameOrId, height);
    const address = row.identity_address;
    const whole =
      mode === 'latest'
        ? contentOf(parseShallow(row.state) as Record<string, unknown>)
        : await contentOver(read, chain, address, fromHeight ?? 0, height);
    const contentmultimap = withKey(whole, key, api, chain);
    return { identityAddress: address, height, mode, contentmultimap, decoded: await decodeContent(contentmultimap) };
  },
});

export const identityContentRoutes = [multimap];

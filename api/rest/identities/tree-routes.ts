/** /api/identity/:nameOrId/referrals and /api/identity/stats */

import { IS_LOCKED_SQL, IS_REVOKED_SQL } from '../../../domain/identity-status.ts';
import { SECONDS_PER_DAY } from '../../../domain/time.ts';
import { readableJson } from '../../../infra/postgres/json-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ChainConfig } from '../../../schemas/config.ts';
import type { ApiContext } from '../../api-context.ts';
import { ApiError } from '../../http/api-error.ts';
import { chainParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { identityAt, readChildren } from './identity-rows.ts';
import { identityParameter } from './routes.ts';
import { identityReferrals, identityStats } from './schema.ts';

const readReferred = rowReader({
  identity_address: columns.text,
  name: columns.text,
  referral: columns.text,
  registered_height: columns.number,
});

interface Node {
  readonly identityAddress: string;
  readonly name: string;
  readonly level: number;
  readonly height: number;
  readonly children: Node[];
}

const LEVELS = 3;
/** Most identities in an answer, sub-identities and referred ones together: some megabytes. */
export const MOST_NAMED = 20_000;
const CHILDREN_SQL = `SELECT identity_address, fully_qualified_name AS name, referral, registered_height FROM identities
  WHERE chain = $1 AND referral = ANY($2) AND to_height IS NULL ORDER BY registered_height, identity_address LIMIT $3`;

const tooManyNamed = () => {
  const detail = `an answer lists at most ${MOST_NAMED} identities: use the JSON-RPC method getsubidentities to page through sub-identities`;
  return new ApiError('answer_too_large', detail);
};

/**
 * Builds the tree from the referral in each registration, with one query per level.
 * @throws ApiError answer_too_large for more than `most` identities
 */
async function referralTree(
  read: Snapshot,
  chain: string,
  root: string,
  most: number,
): Promise<{ levels: number[]; tree: Node[] }> {
  let room = most;
  const tree: Node[] = [];
  const levels: number[] = [];
  let front = new Map([[root, tree]]);
  for (let level = 1; level <= LEVELS; level++) {
    const next = new Map<string, Node[]>();
    const rows =
      front.size > 0 ? await read.rows(readReferred, CHILDREN_SQL, [chain, [...front.keys()], room + 1]) : [];
    room -= rows.length;
    if (room < 0) throw tooManyNamed();
    for (const { identity_address: identityAddress, name, referral, registered_height: height } of rows) {
      const node: Node = { identityAddress, name, level, height, children: [] };
      front.get(referral)?.push(node);
      next.set(identityAddress, node.children);
    }
    levels.push(rows.length);
    front = next;
  }
  return { levels, tree };
}

const referrals = stateRoute({
  path: '/api/identity/:nameOrId/referrals',
  summary: `Identities that an identity referred, three levels deep, and its sub-identities: at most ${MOST_NAMED} in all`,
  parameters: { nameOrId: identityParameter, chain: chainParameter },
  response: identityReferrals,
  weight: 2,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    const tip = tipHeight(read, chain);
    const row = await identityAt(read, api, chain, params.nameOrId, tip);
    const address = row.identity_address;
    const children = await readChildren(read, chain, address, { limit: MOST_NAMED + 1, offset: 0 });
    if (children.length > MOST_NAMED) throw tooManyNamed();
    const { levels, tree } = await referralTree(read, chain, address, MOST_NAMED - children.length);
    return {
      identity: { identityAddress: address, name: row.fully_qualified_name },
      levels,
      total: levels.reduce((sum, count) => sum + count, 0),
      tree,
      subIds: children.map((child) => ({
        identityAddress: child.identity_address,
        name: child.fully_qualified_name,
        height: child.registered_height,
      })),
    };
  },
});

const readCounts = rowReader({
  total: columns.bigint,
  registered30d: columns.bigint,
  revoked: columns.bigint,
  locked: columns.bigint,
  with_content: columns.bigint,
});

/** $2: the lowest height that can be in the window, so that the join skips the blocks of older registrations. */
const STATS_SQL = `SELECT count(*) AS total,
    count(*) FILTER (WHERE i.${IS_REVOKED_SQL}) AS revoked,
    count(*) FILTER (WHERE i.${IS_LOCKED_SQL}) AS locked,
    count(*) FILTER (WHERE (${readableJson('i.state')}) ->> 'contentmultimap' NOT IN ('{}', 'null')) AS with_content,
    count(*) FILTER (WHERE i.registered_height >= $2 AND b.time >= $3) AS registered30d
  FROM identities i
  LEFT JOIN blocks b ON b.chain = i.chain AND b.height = i.registered_height AND i.registered_height >= $2
  WHERE i.chain = $1 AND i.to_height IS NULL`;
const WINDOW_SECONDS = 30 * SECONDS_PER_DAY;
/** Over a month, blocks are never this many times faster than their target. */
const FASTEST = 4;

/** Memoized: the statement parses the state of every identity of the chain, which no other chain and no price changes. */
async function countIdentities(read: Snapshot, api: ApiContext, chain: ChainConfig) {
  const tip = read.state.derived.get(chain.name);
  const earliest = Math.max(0, (tip?.height ?? 0) - Math.ceil((WINDOW_SECONDS / chain.blockSeconds) * FASTEST));
  const values = [chain.name, earliest, (tip?.clock ?? 0) - WINDOW_SECONDS];
  const row = await api.memo.get(`identities of ${chain.name}`, read.state.factsTag(chain.name), () =>
    read.row(readCounts, STATS_SQL, values),
  );
  return {
    total: Number(row?.total ?? 0n),
    registered30d: Number(row?.registered30d ?? 0n),
    revoked: Number(row?.revoked ?? 0n),
    locked: Number(row?.locked ?? 0n),
    withContent: Number(row?.with_content ?? 0n),
  };
}

const stats = stateRoute({
  path: '/api/identity/stats',
  summary: 'How many identities each chain has',
  parameters: {},
  response: identityStats,
  weight: 2,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const chains: Record<string, Awaited<ReturnType<typeof countIdentities>>> = {};
    for (const chain of api.config.chains) chains[chain.name] = await countIdentities(read, api, chain);
    return { total: Object.values(chains).reduce((sum, { total }) => sum + total, 0), chains };
  },
});

export const identityTreeRoutes = [referrals, stats];

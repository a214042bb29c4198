/** State of the whole service: the committed block of each stage and chain, and the served price generation. */
import { createHash } from 'node:crypto';
import { ALL_POSITIONS, POSITIONS_VERSION, type StagePosition } from '../../infra/postgres/stage-positions.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { NoServedGeneration } from '../../schemas/generation-errors.ts';

export interface ServiceState {
  /** Chains that have facts in the stores but are no longer configured. */
  readonly leftOut: readonly string[];
  readonly derived: ReadonlyMap<string, StagePosition>;
  /** Price stage: the block up to which every chain's clock has passed. */
  readonly priced: ReadonlyMap<string, StagePosition>;
  /** The provisional block beyond `priced`; chains without one are missing. */
  readonly pricedAhead: ReadonlyMap<string, StagePosition>;
  /** Position of the last valid record of the topic `stamps`. */
  readonly published: ReadonlyMap<string, number>;
  readonly generation: number;
  /** Number of finished redrives: a redrive may change the facts of the same block. */
  readonly redrives: number;
  /** Identifies the row versions that the state was read from: equal versions mean equal states. */
  readonly version: string;
  /** Changes whenever an answer may change: with positions, generation, redrives and checks of the price guard. */
  readonly tag: string;
  /** Like `tag`, for answers that depend on one chain's facts and on prices. */
  chainTag(chain: string): string;
  /** The same without prices, which move with the blocks of every chain: for values that one chain's facts alone determine. */
  factsTag(chain: string): string;
}

export const readState = rowReader({
  generation: columns.number,
  version: columns.text,
  stage: columns.nullable(columns.text),
  chain: columns.nullable(columns.text),
  position: columns.nullable(columns.bigint),
  height: columns.nullable(columns.number),
  hash: columns.nullable(columns.text),
  clock: columns.nullable(columns.bigint),
  redrives: columns.bigint,
});
export type StateRow = RowRead<typeof readState>;

/**
 * The version of one snapshot; null before a generation is served. Every commit that changes an answer moves a position, which changes the
 * version. A server that took over after a failover without the last commits reuses their transaction ids, so its start time is part of the
 * version too.
 */
export const VERSION_SQL = `SELECT concat_ws(' ', pg_postmaster_start_time(), g.xmin, ${POSITIONS_VERSION})
  FROM generations g WHERE g.served`;

export const STATE_SQL = `SELECT g.generation, (${VERSION_SQL}) AS version,
    (SELECT count(*) FROM redrives WHERE state = 'done') AS redrives,
    p.stage, p.chain, p.position, p.height, p.hash, p.clock
  FROM generations g LEFT JOIN ${ALL_POSITIONS} p ON true WHERE g.served ORDER BY p.stage, p.chain`;

export interface StateScope {
  /** Part of every tag, because another release, or another configuration, may answer differently. */
  readonly release: string;
  /** Configured chains; the stores may contain more, which were removed from the configuration. */
  readonly chains: ReadonlySet<string>;
}

export function readServiceState(rows: readonly StateRow[], { release, chains }: StateScope): ServiceState {
  const [first] = rows;
  if (!first) throw new NoServedGeneration();
  const derived = new Map<string, StagePosition>();
  const priced = new Map<string, StagePosition>();
  const pricedAhead = new Map<string, StagePosition>();
  const targets = new Map([
    ['derive', derived],
    ['price', priced],
    ['price_ahead', pricedAhead],
  ]);
  const published = new Map<string, number>();
  const leftOut: string[] = [];
  let guard = -1n; // the guard's first check has number 0
  for (const { stage, chain, position, height, hash, clock } of rows) {
    if (stage === 'price_guard') guard = position ?? -1n;
    if (chain === null || position === null || height === null || hash === null || clock === null) continue;
    if (!chains.has(chain)) {
      if (stage === 'derive') leftOut.push(chain);
      continue;
    }
    if (stage === 'told') published.set(chain, Number(position));
    targets.get(stage ?? '')?.set(chain, { position: Number(position), height, hash, clock: Number(clock) });
  }
  const places = (at: ReadonlyMap<string, StagePosition>) =>
    [...at].map(([chain, { position }]) => `${chain}:${position}`);
  const pricing = `${release}|${first.generation}|${first.redrives}|${guard}|${places(priced)}|${places(pricedAhead)}`;
  const factsOf = (chain: string) => `${chain}:${derived.get(chain)?.position}:${derived.get(chain)?.hash}`;
  const tag = digest(`${pricing}|${[...derived.keys()].map(factsOf).join()}`);
  const chainTags = new Map([...derived.keys()].map((chain) => [chain, digest(`${pricing}|${factsOf(chain)}`)]));
  return {
    leftOut,
    derived,
    priced,
    pricedAhead,
    published,
    generation: first.generation,
    redrives: Number(first.redrives),
    version: first.version,
    tag,
    chainTag: (chain) => chainTags.get(chain) ?? tag,
    factsTag: (chain) => `${factsOf(chain)}:${first.redrives}`,
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

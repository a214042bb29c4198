/** State of the whole service: the committed block of each stage and chain, and the served price generation. */
import { createHash } from 'node:crypto';
import { ALL_POSITIONS, POSITIONS_VERSION, type StagePosition } from '../../infra/postgres/stage-positions.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { NoServedGeneration } from '../../schemas/generation-errors.ts';

export interface ServiceState {
  /** Chains of which the stores hold facts, though they are no longer configured. */
  readonly leftOut: readonly string[];
  readonly derived: ReadonlyMap<string, StagePosition>;
  /** Price stage: the block up to which every chain's clock has passed. */
  readonly priced: ReadonlyMap<string, StagePosition>;
  /** Beyond it, provisionally; without chains that have no such blocks. */
  readonly pricedAhead: ReadonlyMap<string, StagePosition>;
  /** Position of the last record of topic stamps that counts. */
  readonly published: ReadonlyMap<string, number>;
  readonly generation: number;
  /** How many are done: the same block may read otherwise after one. */
  readonly redrives: number;
  /** Equal texts are equal states: it identifies the row versions that the state was read from. */
  readonly version: string;
  /** Changes whenever anything of the above does. */
  readonly tag: string;
  /** As tag, for answers that depend on one chain's facts and on prices. */
  chainTag(chain: string): string;
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
 * The version of one snapshot; null before anything is served. Whatever changes an answer moves a position in the same commit, and so
 * changes the version of the positions. A server that took over without the last commits of the one before counts its transactions on from there,
 * so its start is part of the version too.
 */
export const VERSION_SQL = `SELECT concat_ws(' ', pg_postmaster_start_time(), g.xmin, ${POSITIONS_VERSION})
  FROM generations g WHERE g.served`;

export const STATE_SQL = `SELECT g.generation, (${VERSION_SQL}) AS version,
    (SELECT count(*) FROM redrives WHERE state = 'done') AS redrives,
    p.stage, p.chain, p.position, p.height, p.hash, p.clock
  FROM generations g LEFT JOIN ${ALL_POSITIONS} p ON true WHERE g.served ORDER BY p.stage, p.chain`;

export interface StateScope {
  /** Part of every tag, since another program may answer otherwise. */
  readonly release: string;
  /** The configured ones: the stores may hold more, which were taken out of the configuration. */
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
  let guard = -1n; // its first look is number 0
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
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

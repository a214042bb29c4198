/** The newest blocks of a chain, newest left; what a reorganisation removed falls out of the row and stays readable. */
import { At, type BlockOfLane, hrefOf, type Lane, lanes, now, shownSpan, Value } from '../kit.ts';

/** A block as an answer tells it. */
export interface AnsweredBlock {
  /** Where it stands in the answer. */
  readonly at: string;
  /** In the list that the answer is of. */
  readonly isRow: boolean;
  readonly block: BlockOfLane;
}

interface LaneProps {
  readonly chain: string;
  readonly answered: readonly AnsweredBlock[];
  readonly hasTip: boolean;
}

export function LaneOfBlocks({ chain, answered, hasTip }: LaneProps) {
  // Until it is laid the answer alone counts: nothing moves after the first paint.
  const { standing, undone }: Pick<Lane, 'standing' | 'undone'> = lanes.value[chain] ?? {
    standing: answered.map(({ block }) => block),
    undone: [],
  };
  const answeredOf = new Map(answered.map((each) => [each.block.hash, each]));
  const all = [...standing.map((block) => ({ ...block, reverted: null })), ...undone].sort(
    (a, b) => b.height - a.height,
  );
  return (
    <div class="lane">
      <div class="lane-head">
        <h3>
          <a href={hrefOf('chain', { chain })}>{chain}</a>
        </h3>
        {hasTip && (
          <At at={`/chains/${chain}`}>
            <Value at="height" as="integer" />
            <Value at="hash" as="id" />
            <Value at="time" as="time" />
          </At>
        )}
      </div>
      {/* biome-ignore lint/a11y/noRedundantRoles: a list without bullets is no list to Safari */}
      <ul role="list" aria-label={`Blocks of ${chain}`}>
        {all.map((block) => {
          const stands = block.reverted === null;
          const by = stands ? answeredOf.get(block.hash) : undefined;
          return (
            <li
              key={block.hash}
              data-item={by?.isRow ? by.at : undefined}
              data-height={block.height}
              data-hash={block.hash}
              data-state={stands ? 'standing' : 'undone'}
              class={block.isStake ? 'stake' : 'work'}
            >
              {/* Its height is that of another block now. */}
              <a href={hrefOf('block', { chain, block: stands ? String(block.height) : block.hash })}>
                {by ? <Answered at={by.at} /> : <Streamed block={block} />}
              </a>
              <small>
                {block.reverted === null ? (
                  <span data-derived="age">{shownSpan(now.value - block.time * 1000)}</span>
                ) : (
                  <span data-derived="depth">{block.reverted.depth} deep, taken back</span>
                )}
              </small>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** By the answer of the panel. */
function Answered({ at }: { readonly at: string }) {
  return (
    <At at={at}>
      <Value at="height" as="integer" />
      <small>
        <Value at="txCount" as="integer" unit="tx" /> · <Value at="validationType" as="word" />
      </small>
      <span class="hidden">
        <Value at="hash" />
      </span>
    </At>
  );
}

/** By the stream, since. */
function Streamed({ block: { height, txCount, isStake, cursor } }: { readonly block: BlockOfLane }) {
  const mark = { 'data-event': 'block', 'data-cursor': cursor };
  return (
    <>
      <data value={height} class="number" {...mark}>
        {height.toLocaleString('en-US')}
      </data>
      <small>
        <data value={txCount} {...mark}>
          {txCount}
        </data>{' '}
        tx · {isStake ? 'stake' : 'work'}
      </small>
    </>
  );
}

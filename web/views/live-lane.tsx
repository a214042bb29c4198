/** The newest blocks of a chain, the newest on the left; blocks removed by a reorganisation drop out of the row and stay readable. */
import { At, type BlockOfLane, hrefOf, type Lane, lanes, now, shownSpan, Value } from '../kit.ts';

/** A block of an answer. */
export interface AnsweredBlock {
  /** JSON pointer of the block in the answer. */
  readonly at: string;
  /** Whether the block is in the main list of the answer. */
  readonly isRow: boolean;
  readonly block: BlockOfLane;
}

interface LaneProps {
  readonly chain: string;
  readonly answered: readonly AnsweredBlock[];
  readonly hasTip: boolean;
}

export function LaneOfBlocks({ chain, answered, hasTip }: LaneProps) {
  // Until the answer is laid into the lane, it is shown as it is, so that nothing moves after the first paint.
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
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari does not expose a list without bullets as a list */}
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
              {/* By hash, because the height now belongs to another block. */}
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

/** A block of the panel's answer. */
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

/** A block that the stream sent after the answer. */
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

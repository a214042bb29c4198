/** The newest blocks of a chain, newest left; what a reorganisation removed falls out of the row and stays readable. */
import { At, type BlockOfLane, hrefOf, type Lane, laneOf, lanes, now, shownSpan, Value } from '../kit.ts';

interface LaneProps {
  readonly chain: string;
  /** Of the answer, of all chains. */
  readonly blocks: readonly { readonly hash: string }[];
  readonly hasTip: boolean;
}

export function LaneOfBlocks({ chain, blocks, hasTip }: LaneProps) {
  const { standing, undone }: Lane = lanes.value[chain] ?? laneOf(chain);
  const indexes = new Map(blocks.map(({ hash }, index) => [hash, index]));
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
          const index = block.reverted === null ? indexes.get(block.hash) : undefined;
          return (
            <li
              key={block.hash}
              data-item={index === undefined ? undefined : `/blocks/${index}`}
              data-height={block.height}
              data-hash={block.hash}
              data-state={block.reverted === null ? 'standing' : 'undone'}
              class={block.isStake ? 'stake' : 'work'}
            >
              <a href={hrefOf('block', { chain, block: String(block.height) })}>
                {index === undefined ? <Streamed block={block} /> : <Answered index={index} />}
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
function Answered({ index }: { readonly index: number }) {
  return (
    <At at={`/blocks/${index}`}>
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

/** The heights of an identity: a slider whose stops are its changes. */
import { shownTime, timeZone } from '../kit.ts';

interface Update {
  readonly height: string;
  readonly time: string;
  readonly kind: string;
}

interface HeightSliderProps {
  readonly chain: string;
  /** Newest first. */
  readonly updates: readonly Update[];
  /** Null: now. */
  readonly height: string | null;
  readonly onHeight: (height: string | null) => void;
}

export function HeightSlider({ updates, height, onHeight }: HeightSliderProps) {
  const stops = stopsOf(updates);
  const last = stops.length; // after all of them stands now
  const at =
    height === null
      ? last
      : Math.max(
          0,
          stops.findLastIndex((stop) => Number(stop.height) <= Number(height)),
        );
  const stop = stops[at];
  const words = stop
    ? `${Number(height ?? stop.height).toLocaleString('en-US')}, ${shownTime(Number(stop.time) * 1000, timeZone.value)}`
    : 'now';
  return (
    <section class="panel travel" aria-label="Height">
      <label>
        <span class="muted">State</span>
        <input
          type="range"
          aria-label="Height"
          aria-valuetext={words}
          min={0}
          max={last}
          step={1}
          value={at}
          list="changes-of-identity"
          onInput={({ currentTarget }) => onHeight(stops[Number(currentTarget.value)]?.height ?? null)}
        />
        <datalist id="changes-of-identity">
          {[...stops, null].map((_, index) => (
            <option key={index} value={index} />
          ))}
        </datalist>
      </label>
      <output data-derived="height">
        {stop ? (
          <>
            at block <strong>{words}</strong> · {stop.kind.replaceAll('_', ' ')}
          </>
        ) : (
          <>now · {stops.length === 1 ? 'one update' : `${stops.length} updates`} before</>
        )}
      </output>
      <button type="button" disabled={height === null} onClick={() => onHeight(null)}>
        Now
      </button>
    </section>
  );
}

/** One for each height, oldest first: the last update of a block is its state. */
function stopsOf(updates: readonly Update[]): readonly Update[] {
  return updates.filter(({ height }, index) => index === 0 || updates[index - 1]?.height !== height).toReversed();
}

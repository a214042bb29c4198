/** A slider over the heights at which an identity changed. */
import { useEffect, useState } from 'preact/hooks';
import { shownTime, timeZone } from '../kit.ts';

/** How long the thumb must rest before a state is requested, so that the stops it passes are not. */
const RESTS_MS = 250;
/** The address of a view may contain any text. */
const HEIGHT = /^\d+$/;

interface Update {
  readonly height: string;
  readonly time: string;
  readonly kind: string;
}

interface HeightSliderProps {
  /** Newest first. */
  readonly updates: readonly Update[];
  /** Total number of updates when `updates` has only the newest ones; null when it has all. */
  readonly total: string | null;
  /** Null for the current state. */
  readonly height: string | null;
  readonly onHeight: (height: string | null) => void;
}

export function HeightSlider({ updates, total, height, onHeight }: HeightSliderProps) {
  const stops = stopsOf(updates);
  const last = stops.length;
  const count = Number(total ?? last);
  const [moved, setMoved] = useState<{ readonly to: number; readonly from: string | null } | null>(null);
  const thumb = moved?.from === height ? moved.to : null; // a height chosen elsewhere since then wins
  useEffect(() => {
    if (thumb === null) {
      setMoved(null);
      return;
    }
    const rest = () => {
      setMoved(null);
      onHeight(stops[thumb]?.height ?? null);
    };
    const timer = setTimeout(rest, RESTS_MS);
    return () => clearTimeout(timer);
  }, [moved, height]);
  const at = thumb ?? placeOf(height, stops);
  const stop = stops[at];
  const chosen = thumb === null ? height : stop?.height;
  const isOlder = Number(chosen) < Number(stop?.height);
  const isWrong = chosen != null && !HEIGHT.test(chosen);
  const when = stop && (isOlder ? 'before these updates' : shownTime(Number(stop.time) * 1000, timeZone.value));
  const words = isWrong ? 'not a height' : when ? `${Number(chosen).toLocaleString('en-US')}, ${when}` : 'now';
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
          onInput={({ currentTarget }) => setMoved({ to: Number(currentTarget.value), from: height })}
        />
        <datalist id="changes-of-identity">
          {[...stops, null].map((_, index) => (
            <option key={index} value={index} />
          ))}
        </datalist>
      </label>
      <output data-derived="height">
        {isWrong ? (
          words
        ) : stop ? (
          <>
            at block <strong>{words}</strong>
            {!isOlder && ` · ${stop.kind.replaceAll('_', ' ')}`}
          </>
        ) : (
          <>now · {count === 1 ? 'one update' : `${count.toLocaleString('en-US')} updates`} before</>
        )}
      </output>
      {total !== null && (
        <span class="muted" data-derived="reach">
          The stops are the newest {updates.length} updates; History has all of them.
        </span>
      )}
      <button type="button" disabled={height === null} onClick={() => onHeight(null)}>
        Now
      </button>
    </section>
  );
}

/** The position after all stops is the current state. */
function placeOf(height: string | null, stops: readonly Update[]): number {
  if (height === null) return stops.length;
  return Math.max(
    0,
    stops.findLastIndex((stop) => Number(stop.height) <= Number(height)),
  );
}

/** One stop for each height, oldest first: the last update in a block is its state. */
function stopsOf(updates: readonly Update[]): readonly Update[] {
  return updates.filter(({ height }, index) => index === 0 || updates[index - 1]?.height !== height).toReversed();
}

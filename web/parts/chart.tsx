/** Shows a series as a drawing, as a sentence, point by point with the arrow keys, and as a table. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { theme, timeZone } from '../state/settings.ts';
import { inertText } from '../text/inert.ts';
import { type NumberKind, shownNumber } from '../text/numbers.ts';
import { millisecondsOf, shownTime } from '../text/times.ts';
import { loadPlot } from './load-plot.ts';
import type { Plot, PlotCandles, PlotOptions, PlotSeries, Values } from './plot.ts';
import { At, useLeaf, useSource } from './scope.tsx';
import { type Column, Table } from './table.tsx';
import { Text } from './text.tsx';
import { Value } from './value.tsx';

export interface ChartSeries<Point> extends Omit<PlotSeries, 'values' | 'color' | 'scale'> {
  readonly name: string;
  readonly unit: string;
  readonly as: NumberKind;
  readonly scale?: PlotSeries['scale'];
  /** Digits, or null where the point has no value. */
  readonly value: (point: Point) => string | null;
}

interface ChartProps<Point> {
  /** JSON pointer of the list of points, oldest first. */
  readonly at: string;
  readonly points: readonly Point[];
  /** Seconds since the epoch, ISO 8601, or a date. */
  readonly time: (point: Point) => string;
  readonly series: readonly ChartSeries<Point>[];
  readonly candles?: { readonly [Name in keyof PlotCandles]: (point: Point) => string };
  /** Whether each series is drawn on top of the series before it. */
  readonly isStacked?: boolean;
  /** Step of the plot in seconds; see PlotOptions. */
  readonly step: PlotOptions['step'];
  /** What the chart shows, without numbers. */
  readonly name: string;
  /** What the reader can see in the chart, as a sentence. */
  readonly caption: string;
  readonly columns: readonly Column<Point>[];
  readonly empty: string;
}

export function Chart<Point>(props: ChartProps<Point>) {
  const { points, series } = props;
  const marks = useMarks();
  return (
    <Figure {...props} rows={points}>
      {(series.length > 1 || props.candles) && <Legend series={series} hasCandles={props.candles !== undefined} />}
      <Canvas {...props} marks={marks} />
      {marks.length > 0 && <Marks count={marks.length} />}
    </Figure>
  );
}

interface FigureProps<Row> extends Pick<ChartProps<Row>, 'at' | 'name' | 'caption' | 'columns' | 'empty'> {
  /** Rows of the list at `at`, in the same order. */
  readonly rows: readonly Row[];
  /** The drawing. */
  readonly children: ComponentChildren;
}

/** A drawing with a caption, and a table of its numbers on demand. */
export function Figure<Row>({ at, rows, name, caption, columns, empty, children }: FigureProps<Row>) {
  const [isOpen, setOpen] = useState(false);
  const source = useSource();
  const id = useId();
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <figure class="chart" data-points={rows.length} {...source}>
      <figcaption data-derived="caption">
        <Text text={caption} />
      </figcaption>
      {children}
      <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Hide the numbers' : 'Show the numbers'}
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard */}
      <section id={id} class="numbers" aria-label={`Numbers: ${name}`} tabIndex={0} hidden={!isOpen}>
        {isOpen && <Table at={at} rows={rows} caption={name} columns={columns} empty={empty} />}
      </section>
    </figure>
  );
}

interface Mark {
  readonly from: string;
  readonly to: string;
}

/** Time spans that the answer marks; empty where the path has no marks. */
function useMarks(): readonly Mark[] {
  const leaf = useLeaf('/marks');
  return leaf.kind === 'nested' && Array.isArray(leaf.value) ? leaf.value : [];
}

function Marks({ count }: { readonly count: number }) {
  return (
    <ul class="marks">
      {Array.from({ length: count }, (_, index) => (
        <At key={index} at={`/marks/${index}`}>
          <li>
            <Value at="from" as="time" /> to <Value at="to" as="time" />: <Value at="text" />
          </li>
        </At>
      ))}
    </ul>
  );
}

const colorOf = (index: number) => `--series-${(index % 8) + 1}`;
/** Distinguishes lines without relying on colour. */
const DASHES: readonly (readonly number[])[] = [
  [],
  [8, 4],
  [2, 3],
  [10, 3, 2, 3],
  [14, 6],
  [5, 5],
  [2, 6],
  [12, 3, 3, 3, 3, 3],
];

interface LegendProps {
  readonly series: readonly { readonly name: string; readonly kind: PlotSeries['kind'] }[];
  readonly hasCandles?: boolean;
}

export function Legend({ series, hasCandles = false }: LegendProps) {
  return (
    <ul class="legend" aria-hidden="true">
      {hasCandles && <li class="candles">Hollow: the price rose. Filled: it fell.</li>}
      {series.map(({ name, kind }, index) => (
        <li key={name}>
          <svg aria-hidden="true" width="24" height="8" class={`series-${(index % 8) + 1}`}>
            {kind === 'bars' || kind === 'area' || kind === 'layer' ? (
              <rect class={kind} width="24" height="8" />
            ) : (
              <line x1="0" x2="24" y1="4" y2="4" stroke-dasharray={DASHES[index % 8]?.join(' ')} />
            )}
          </svg>
          <Text text={name} />
        </li>
      ))}
    </ul>
  );
}

/** Running sums over the series; a missing value adds nothing. */
function stacked(own: readonly Values[]): Values[] {
  let below: Values = [];
  return own.map((values) => {
    below = values.map((value, index) => (value ?? 0) + (below[index] ?? 0));
    return below;
  });
}

const seconds = (text: string) => millisecondsOf(text) / 1000;
/** Whether a time is a UTC day, which is shown as that day in every time zone. */
const isDate = (text: string | undefined) => text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text);
const numberOf = (digits: string | null) => (digits === null ? null : Number(digits));

type CanvasProps<Point> = Pick<
  ChartProps<Point>,
  'points' | 'time' | 'series' | 'candles' | 'step' | 'name' | 'isStacked'
> & {
  readonly marks?: readonly Mark[];
};

export function Canvas<Point>(props: CanvasProps<Point>) {
  const { points, time, series, candles, step, marks = [], isStacked = false } = props;
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const [isFailed, setFailed] = useState(false);
  const scheme = useScheme();
  const zone = isDate(points[0] && time(points[0])) ? 'utc' : timeZone.value;
  useEffect(() => {
    let isGone = false;
    const draw = async () => {
      const { drawPlot } = await loadPlot();
      if (isGone || !holder.current) return;
      const column = (value: (point: Point) => string | null) => points.map((point) => numberOf(value(point)));
      const own = series.map(({ value }) => column(value));
      const drawn = series.map(({ kind, scale = 'main' }, index) => ({
        kind,
        scale,
        color: colorOf(index),
        dash: DASHES[index % 8],
        values: (isStacked ? stacked(own)[index] : own[index]) ?? [],
      }));
      plot.current = drawPlot(holder.current, {
        times: points.map((point) => seconds(time(point))),
        // The highest layer first: each layer covers the one behind it.
        series: isStacked ? drawn.toReversed() : drawn,
        candles: candles
          ? {
              open: column(candles.open),
              high: column(candles.high),
              low: column(candles.low),
              close: column(candles.close),
            }
          : null,
        marks: marks.map(({ from, to }) => ({ from: seconds(from), to: seconds(to) })),
        step,
        zone,
        onCursor: setAt,
      });
    };
    draw().then(
      () => setFailed(false),
      () => setFailed(true),
    );
    return () => {
      isGone = true;
      plot.current?.destroy();
      plot.current = null;
    };
  }, [points, zone, scheme]);
  const move = (event: KeyboardEvent) => {
    const last = points.length - 1;
    const from = at ?? last;
    const to = { ArrowLeft: from - 1, ArrowRight: at === null ? last : from + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const point = Math.min(last, Math.max(0, to));
    plot.current?.moveTo(point);
    setAt(point);
  };
  const said = readout(props, at ?? points.length - 1);
  return (
    <>
      <div
        class="plot"
        role="slider"
        aria-label={`Points: ${props.name}`}
        aria-valuemin={1}
        aria-valuemax={points.length}
        aria-valuenow={(at ?? points.length - 1) + 1}
        aria-valuetext={inertText(said)}
        tabIndex={0}
        onKeyDown={move}
      >
        <div ref={holder} aria-hidden="true" />
      </div>
      {isFailed && <p class="empty">The chart could not be drawn. Its numbers are in the table.</p>}
      <p class="readout" data-derived="readout" aria-hidden="true">
        <Text text={said} />
      </p>
    </>
  );
}

function readout<Point>({ points, time, series, candles }: CanvasProps<Point>, index: number): string {
  const point = points[index];
  if (point === undefined) return '';
  const values = series.map(({ name, unit, as, value }) => {
    const digits = value(point);
    return `${name} ${digits === null ? '–' : `${shownNumber(digits, as)} ${unit}`.trim()}`;
  });
  const prices = Object.entries(candles ?? {}).map(([name, value]) => `${name} ${shownNumber(value(point), 'price')}`);
  const text = time(point);
  return [isDate(text) ? text : shownTime(millisecondsOf(text), timeZone.value), ...prices, ...values].join(' · ');
}

/** Returns a key that changes with the theme, whether the reader or the system changes it. */
function useScheme(): string {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setDark(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return theme.value === 'system' ? String(isDark) : theme.value;
}

/** Draws a chart with uPlot; loaded when the first chart is shown. */
import uPlot from 'uplot';
import type { TimeZone } from '../state/settings.ts';
import { axisLabels } from '../text/axis-labels.ts';
import { shownTime } from '../text/times.ts';

export type Values = readonly (number | null)[];

export interface PlotSeries {
  /** `step`: a value holds until the next one. `area`: a line over a filled ground. `layer`: a step that covers the series behind it. */
  readonly kind: 'line' | 'step' | 'area' | 'layer' | 'bars';
  /** Name of the style sheet's colour token. */
  readonly color: string;
  /** `side` has its own axis on the right; `foot` is drawn low, without an axis. */
  readonly scale: 'main' | 'side' | 'foot';
  readonly dash?: readonly number[] | undefined;
  readonly values: Values;
}

export interface PlotCandles {
  readonly open: Values;
  readonly high: Values;
  readonly low: Values;
  readonly close: Values;
}

export interface PlotMark {
  /** Seconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

export interface PlotOptions {
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  readonly candles: PlotCandles | null;
  readonly marks: readonly PlotMark[];
  /** Length of a step of the series in seconds: a step without a point is a gap. Null: values hold until they change. */
  readonly step: number | null;
  readonly zone: TimeZone;
  readonly onCursor: (point: number | null) => void;
}

export interface Plot {
  /** Moves the cursor to a point. */
  moveTo(point: number): void;
  destroy(): void;
}

const FROM_ZERO: readonly PlotSeries['kind'][] = ['bars', 'layer'];
const HEIGHT = 260;
const LOW_HEIGHT = 200;
/** Matches the style sheet, which reserves the space. */
const NARROW = '(max-width: 640px)';
const DAY = 86_400;
/** Days between two ticks of an axis whose points are a day or more apart: times of day would be meaningless there. */
const DAYS_BETWEEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 30, 60, 90, 120, 180, 365, 730, 1825];
const MONTH = 28 * DAY;

export function drawPlot(holder: HTMLElement, options: PlotOptions): Plot {
  const { times, pointOf, pick } = withGaps(options);
  const colors = colorsOf(holder);
  const candles = options.candles && {
    open: pick(options.candles.open),
    high: pick(options.candles.high),
    low: pick(options.candles.low),
    close: pick(options.candles.close),
  };
  const hidden: uPlot.Series = { scale: 'main', paths: () => null, points: { show: false } };
  const series = options.series.map((one) => lineOf(one, colors));
  const columns = [...options.series.map(({ values }) => pick(values))];
  if (candles) {
    series.unshift(hidden, hidden);
    columns.unshift(candles.high, candles.low);
  }
  const side = options.series.find(({ scale }) => scale === 'side');
  const main = options.series.find(({ scale }) => scale === 'main');
  const plot = new uPlot(
    {
      ...sizeOf(holder),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      tzDate: (seconds) =>
        options.zone === 'utc' ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000),
      scales: {
        x: { range: ({ data: [times] }, min, max) => padded(min, lastOf(times, max), halfStep(options)) },
        main: {
          range: options.series.some(({ kind, scale }) => FROM_ZERO.includes(kind) && scale === 'main')
            ? fromZero
            : spread,
        },
        side: { range: fromZero },
        foot: { range: (_, __, max) => [0, (max || 1) * 5] },
      },
      series: [{}, ...series],
      axes: [
        {
          ...axisColors(colors),
          size: 32,
          ...(options.step !== null && options.step >= DAY && { incrs: DAYS_BETWEEN.map((days) => days * DAY) }),
          values: (_, splits, __, ___, step) => splits.map(timeLabel(step, options.zone)),
        },
        {
          ...axisColors(colors),
          ...(side && main && { stroke: colors(main.color) }), // with two axes, each has the colour of its line
          scale: 'main',
          size: (_, labels) => widthOf(labels),
          values: (_, splits) => axisLabels(splits),
        },
        ...(side
          ? [
              {
                ...axisColors(colors),
                stroke: colors(side.color),
                scale: 'side',
                side: 1,
                size: 40,
                grid: { show: false },
              },
            ]
          : []),
      ],
      hooks: {
        drawClear: [(self) => drawMarks(self, options.marks, colors('--warn'))],
        draw: candles ? [(self) => drawCandles(self, times, candles, colors)] : [],
        setCursor: [
          ({ cursor }) =>
            options.onCursor(cursor.idx == null || (cursor.left ?? -1) < 0 ? null : (pointOf[cursor.idx] ?? null)),
        ],
      },
    },
    [times, ...columns] as uPlot.AlignedData,
    holder,
  );
  const resizing = new ResizeObserver(() => plot.setSize(sizeOf(holder)));
  resizing.observe(holder);
  return {
    moveTo: (point) => plot.setCursor({ left: plot.valToPos(options.times[point] ?? 0, 'x'), top: 0 }),
    destroy() {
      resizing.disconnect();
      plot.destroy();
    },
  };
}

/** Adds a null after each point that is followed by a gap, which breaks lines there. Bars need no nulls. */
function withGaps({ times, step, series }: PlotOptions) {
  const hasLines = series.some(({ kind }) => kind !== 'bars');
  const withNulls: number[] = [];
  const pointOf: number[] = [];
  const isGap: boolean[] = [];
  for (const [index, time] of times.entries()) {
    withNulls.push(time);
    pointOf.push(index);
    isGap.push(false);
    const next = times[index + 1];
    if (!hasLines || step === null || next === undefined || Math.floor(next / step) - Math.floor(time / step) <= 1)
      continue;
    withNulls.push(time + 1);
    pointOf.push(index);
    isGap.push(true);
  }
  const pick = (values: Values): Values => pointOf.map((point, at) => (isGap[at] ? null : (values[point] ?? null)));
  return { times: withNulls, pointOf, pick };
}

function sizeOf({ clientWidth: width }: HTMLElement) {
  return { width, height: matchMedia(NARROW).matches ? LOW_HEIGHT : HEIGHT };
}

type Colors = (token: string) => string;

/** A canvas cannot use custom properties, so the colour is read from the computed style of an element. */
function colorsOf(holder: HTMLElement): Colors {
  const probe = document.createElement('span');
  return (token) => {
    holder.append(probe);
    probe.style.color = `var(${token})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

const faint = (color: string, share: number) => color.replace('rgb(', 'rgba(').replace(')', `, ${share})`);

function axisColors(colors: Colors): uPlot.Axis {
  const line = { stroke: colors('--line'), width: 1 };
  return { stroke: colors('--muted'), grid: line, ticks: line, font: '12px system-ui, sans-serif', gap: 6 };
}

function lineOf({ kind, color: token, scale, dash = [] }: PlotSeries, colors: Colors): uPlot.Series {
  const color = colors(token);
  const shared = { scale, stroke: color, dash: [...dash] };
  const { bars, stepped } = uPlot.paths;
  switch (kind) {
    case 'bars': {
      const share = scale === 'foot' ? 0.35 : 0.8;
      const paths = bars?.({ size: [0.7, 48] });
      return { ...shared, width: 0, fill: faint(color, share), points: { show: false }, ...(paths && { paths }) };
    }
    case 'step': {
      const paths = stepped?.({ align: 1, extend: true });
      return { ...shared, width: 2, ...(paths && { paths }), points: { show: false } };
    }
    case 'layer': {
      const paths = stepped?.({ align: 1, extend: true });
      const cover = { fill: colors(token), stroke: colors('--surface'), dash: [...dash] };
      return { ...shared, ...cover, width: 1, ...(paths && { paths }), points: { show: false } };
    }
    case 'area':
      return { ...shared, width: 1, fill: faint(color, 0.15), points: { show: false } };
    case 'line':
      return { ...shared, width: 2 };
  }
}

const halfStep = ({ step, series, candles, times }: PlotOptions) =>
  candles !== null || series.some(({ kind }) => kind === 'bars')
    ? (step ?? (times[1] ?? DAY) - (times[0] ?? 0)) / 2
    : 0;

/** uPlot would show years around a single point. */
const lastOf = (times: ArrayLike<number>, max: number) => (times.length === 1 ? (times[0] ?? max) : max);

function padded(min: number, max: number, by: number): [number, number] {
  const more = min === max ? Math.max(by, DAY / 2) : by;
  return [min - more, max + more];
}

const fromZero = (_: uPlot, __: number | null, max: number | null): [number, number] => [
  0,
  (max ?? 0) > 0 ? (max ?? 0) * 1.08 : 1,
];

/** Leaves room above and below; a constant series is drawn in the middle. */
function spread(_: uPlot, min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [0, 1];
  const room = min === max ? Math.abs(min) * 0.1 || 1 : (max - min) * 0.08;
  return [min - room, max + room];
}

function timeLabel(step: number, zone: TimeZone) {
  return (seconds: number) => {
    const [date = '', clock = ''] = shownTime(seconds * 1000, zone).split(' ');
    if (step >= MONTH) return date.slice(0, 7);
    const minutes = clock.slice(0, 5);
    return step >= DAY || minutes === '00:00' ? date.slice(5) : minutes;
  };
}

/** Pixels of an axis: its ticks and gap, and a character of its labels. */
const [BESIDE_LABELS, CHARACTER, LEAST_WIDTH] = [18, 7, 64];

/** A label that does not fit would lose its first digits. */
function widthOf(labels: readonly string[] | null): number {
  return Math.max(LEAST_WIDTH, BESIDE_LABELS + CHARACTER * Math.max(0, ...(labels ?? []).map(({ length }) => length)));
}

function drawMarks(plot: uPlot, marks: readonly PlotMark[], color: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = faint(color, 0.14);
  for (const { from, to } of marks) {
    const [left, right] = [plot.valToPos(from, 'x', true), plot.valToPos(to, 'x', true)];
    ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
  }
  ctx.restore();
}

/** Draws open to close as a body, filled where the price fell, so that rise and fall differ without colours too. */
function drawCandles(
  plot: uPlot,
  times: readonly number[],
  { open, high, low, close }: PlotCandles,
  colors: Colors,
): void {
  const { ctx, bbox } = plot;
  const [good, bad, ground] = [colors('--good'), colors('--bad'), colors('--surface')];
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const narrowest = Math.min(...steps.filter((step) => step > 1), DAY);
  const width = Math.max(1, Math.min(14, (plot.valToPos(narrowest, 'x', true) - plot.valToPos(0, 'x', true)) * 0.6));
  const y = (value: number) => Math.round(plot.valToPos(value, 'main', true));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = devicePixelRatio;
  for (const [index, time] of times.entries()) {
    const [first, top, bottom, last] = [open[index], high[index], low[index], close[index]];
    if (first == null || top == null || bottom == null || last == null) continue;
    const x = Math.round(plot.valToPos(time, 'x', true));
    const isUp = last >= first;
    const [above, below] = [y(Math.max(first, last)), y(Math.min(first, last))];
    ctx.strokeStyle = isUp ? good : bad;
    ctx.fillStyle = isUp ? ground : bad;
    ctx.beginPath();
    ctx.moveTo(x, y(top));
    ctx.lineTo(x, y(bottom));
    ctx.stroke();
    ctx.fillRect(x - width / 2, above, width, Math.max(1, below - above));
    ctx.strokeRect(x - width / 2, above, width, Math.max(1, below - above));
  }
  ctx.restore();
}

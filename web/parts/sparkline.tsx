/** A series drawn at the size of a word, without its numbers, which are in the answer. */
interface SparklineProps {
  readonly values: readonly string[];
}

const WIDTH = 96;
const HEIGHT = 24;
const EDGE = 2;

export function Sparkline({ values }: SparklineProps) {
  const numbers = values.map(Number);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const x = (index: number) => (index / Math.max(1, numbers.length - 1)) * WIDTH;
  const share = (value: number) => (most === least ? 0.5 : (value - least) / (most - least));
  const y = (value: number) => HEIGHT - EDGE - share(value) * (HEIGHT - 2 * EDGE);
  const points = numbers.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <polyline points={points.join(' ')} />
    </svg>
  );
}

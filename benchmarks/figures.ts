/**
 * Extracts the numbers that a benchmark prints, each identified by the words around it. Two runs are compared by the figures that both print,
 * so that no benchmark needs code for it.
 */

/** A number is not preceded by a letter or digit, so p99 and sha1 are words. */
const NUMBER = /(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?/g;

/** Maps the words, with the number's place as `<>` and other numbers as `#`, to the value. Equal lines are numbered. */
export function figuresOf(output: string): Map<string, number> {
  const figures = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const line of output.split('\n')) {
    const words = line.replace(/\s+/g, ' ').trim();
    const template = words.replace(NUMBER, '#');
    const times = (seen.get(template) ?? 0) + 1;
    seen.set(template, times);
    [...words.matchAll(NUMBER)].forEach(([text], place) => {
      let at = -1;
      const marked = template.replace(/#/g, () => (++at === place ? '<>' : '#'));
      figures.set(times === 1 ? marked : `${marked} (${times})`, Number(text.replaceAll(',', '')));
    });
  }
  return figures;
}

export interface FigureComparison {
  readonly figure: string;
  /** This checkout divided by the other, over the pairs of runs. */
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Figures that both sides print in every run, and that are not the same number in all runs. `here[i]` ran next to `there[i]`. */
export function compareRuns(here: readonly string[], there: readonly string[]): FigureComparison[] {
  const [mine, theirs] = [here.map(figuresOf), there.map(figuresOf)];
  const [first] = mine;
  if (!first) return [];
  return [...first.keys()].flatMap((figure) => {
    const pairs = mine.map((figures, run) => [figures.get(figure), theirs[run]?.get(figure)] as const);
    const ratios = pairs.flatMap(([own, other]) => (own !== undefined && other ? [own / other] : []));
    const isConstant = new Set(pairs.flat()).size === 1;
    if (ratios.length < pairs.length || isConstant) return [];
    const sorted = ratios.sort((a, b) => a - b);
    return [{ figure, median: median(sorted), least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 }];
  });
}

function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

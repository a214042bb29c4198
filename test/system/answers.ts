/** A program's answers to every path without a name in it, and to some paths with known names. */
import type { Program } from './program.ts';

/** Answers of these paths depend on the process, the time or the branches that the process saw, not only on the chain. */
const OF_THE_MOMENT =
  /^\/(metrics|api\/(ws|stream|health.*|mempool\/.*|datasets\/.*|reorgs\/|stats\/(status|pulse|network)))$/;
const NAMES = ['PureTri@', 'alice@', 'usdx', 'VRSCTEST'];

/** path → status and body */
export async function answersOf(program: Pick<Program, 'get'>): Promise<Record<string, string>> {
  const { body } = await program.get('/api/');
  const { endpoints } = JSON.parse(body) as { endpoints: { method: string; path: string }[] };
  const paths = endpoints
    .filter(({ method, path }) => method === 'GET' && !OF_THE_MOMENT.test(path))
    .flatMap(({ path }) => filled(path))
    .concat('/api/search/?q=usdx', '/api/blocks/?pageSize=100', '/api/conversions/?pageSize=100');
  const answers: Record<string, string> = {};
  for (const path of paths) {
    const answer = await program.get(path);
    answers[path] = `${answer.status} ${answer.body.replaceAll(/"(instance|updatedAt)":"[^"]*"/g, '')}`;
  }
  return answers;
}

/** Paths whose answers differ, with both texts around the first difference. */
export function differing(
  some: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>>,
): Record<string, readonly string[]> {
  const paths = new Set([...Object.keys(some), ...Object.keys(others)]);
  const parted = [...paths].filter((path) => some[path] !== others[path]);
  return Object.fromEntries(
    parted.map((path) => {
      const [one = '', other = ''] = [some[path], others[path]];
      const place = [...one].findIndex((character, index) => character !== other[index]);
      const from = Math.max(0, (place < 0 ? one.length : place) - AROUND);
      return [path, [one, other].map((text) => text.slice(from, from + 3 * AROUND))];
    }),
  );
}

const AROUND = 80;

/** The path with each of some known names as its parameter; empty if the parameter is of another kind. */
function filled(path: string): string[] {
  if (!path.includes(':')) return [path];
  const [, parameter = ''] = /:(\w+)/.exec(path) ?? [];
  const values: Record<string, readonly string[]> = {
    nameOrId: NAMES,
    id: NAMES,
    name: NAMES,
    height: ['1', '300', '851'],
  };
  return (values[parameter] ?? []).map((value) => path.replace(`:${parameter}`, encodeURIComponent(value)));
}

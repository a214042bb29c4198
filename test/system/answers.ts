/** What a program answers to everything that can be asked without knowing a name, and to some more. */
import type { Program } from './program.ts';

/** Their answers tell of the process, of the moment or of branches that the process saw, not of the chain. */
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

/** Paths whose answers are not the same, with the first place where they part. */
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

/** The path with each of some names in the place of its parameter; none when the parameter is something else. */
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

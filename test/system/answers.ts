/** What a program answers to everything that can be asked without knowing a name, and to some more. */
import type { Program } from './program.ts';

/** Their answers tell of the process and of the moment, not of the chain. */
const OF_THE_MOMENT = /^\/(metrics|api\/(ws|stream|health.*|stats\/(status|pulse|network)))$/;
const NAMES = ['PureTri@', 'alice@', 'usdx', 'VRSCTEST'];

/** path → status and body */
export async function answersOf(program: Program): Promise<Record<string, string>> {
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

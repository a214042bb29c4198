/** docs/json-rpc.md: every method as the table says it, with an example from the recording. */
import { answerOf, type RecordedCase, readCases } from '../../../infra/recorded-node/recorded-calls.ts';
import { rawMember } from '../../../schemas/raw-json.ts';
import { METHOD_GROUPS, RPC_CREDITS, signatureOf } from '../methods/method-table.ts';
import type { RpcMethod } from '../methods/rpc-method.ts';
import { differenceOfCall, differences } from './differences.ts';

export interface Example {
  readonly params: string;
  /** Text of the result or of the error. */
  readonly answer: string;
}

const LONGEST = 400;
const EMPTY = new Set(['null', '[]', '{}', '""']);

function exampleOf(recorded: RecordedCase): (Example & { readonly method: string; readonly rank: number }) | null {
  if (!('body' in recorded) || recorded.name.includes('/_fuzz:')) return null;
  const method = String(JSON.parse(rawMember(recorded.request, 'method') ?? '""'));
  const params = rawMember(recorded.request, 'params') ?? '[]';
  const instead = differenceOfCall({ method, params, body: recorded.body });
  if (instead && !instead.replace) return null;
  const [pattern = '', replacement = ''] = instead?.replace ?? [];
  const body = instead ? recorded.body.replace(new RegExp(pattern, 'g'), replacement) : recorded.body;
  const answer = answerOf(body);
  if ('died' in answer || ('error' in answer && answer.error.startsWith('{"code":-1,'))) return null;
  const text = 'error' in answer ? answer.error : answer.result;
  // Results before errors, such that say something before empty ones, short ones before long ones.
  const rank = ('error' in answer ? 2e9 : 0) + (EMPTY.has(text) || text.startsWith('{"error"') ? 1e9 : 0) + text.length;
  return { method, params, answer: text, rank };
}

/** The one that says most in the fewest characters, by method. */
export function recordedExamples(folder: string): ReadonlyMap<string, Example> {
  const best = new Map<string, Example & { readonly rank: number }>();
  for (const recorded of readCases(folder)) {
    const example = exampleOf(recorded);
    if (example && example.rank < (best.get(example.method)?.rank ?? Number.POSITIVE_INFINITY)) {
      best.set(example.method, example);
    }
  }
  return best;
}

const abridged = (text: string) =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST)} … (${Buffer.byteLength(text)} bytes)`;

function credits(method: RpcMethod): number {
  if (method.source === 'extension' && method.asksDaemon) return RPC_CREDITS.daemon;
  return RPC_CREDITS[method.source];
}

function conditions(method: RpcMethod): string {
  const plural = credits(method) === 1 ? '' : 's';
  const cost = `${credits(method)} credit${plural}`;
  if (method.source !== 'daemon') return `${cost}, from the index${'asksDaemon' in method ? ' and the daemon' : ''}`;
  const { load, repeatable, guards, broadcasts } = method;
  const refused = guards.map((guard) => guard.refuses);
  return [
    `${cost}, ${load.name}`,
    ...(repeatable ? [`kept ${repeatable.kept}`] : []),
    ...(broadcasts ? ['broadcasts, never tried twice'] : []),
    ...(refused.length > 0 ? [`**refused:** ${refused.join('; ')}`] : []),
  ].join(' · ');
}

function section([name, method]: [string, RpcMethod], example: Example | undefined): string {
  const shown = example ? ['', '```', `> ${abridged(example.params)}`, abridged(example.answer), '```'] : [];
  return [`### ${name}`, `\`${signatureOf(name, method)}\``, '', method.summary, '', conditions(method), ...shown].join(
    '\n',
  );
}

const INTRODUCTION = `# JSON-RPC

\`POST /\` is the first configured chain, \`POST /rpc/<chain>\` each chain; a host name \`<chain>.rpc.*\` or \`rpc.*\` does the same, and
a chain that is not configured is 404. Any JSON-RPC client of the daemon works over HTTP/1.1: change its address, credentials are
ignored. Envelope, ids, numbers, error codes and HTTP statuses are the daemon's, bodies go through as bytes. A batch holds at most five calls.

\`\`\`
curl -s http://127.0.0.1:8080/ --data '{"id":1,"method":"getblockcount","params":[]}'
curl -s http://127.0.0.1:8080/rpc/vrsc --data '[{"id":1,"method":"getblockcount"},{"id":2,"method":"getinfo"}]'
\`\`\`

Without a key each call counts as a request of the minute; with a key it costs the credits below. What waits for a daemon is bounded:
*light* calls have 30 s, *heavy* ones 60 s and run three at a time, *slow* ones walk the whole chain, have 300 s and run one at a
time. What does not fit is refused with -32603 \`Work queue depth exceeded\`. A daemon that does not answer is -32603
\`Internal error\`, one that starts is -28, too many requests are -32005 with HTTP 429, a method that is not here is -32601.

In every method a member \`filename\` is refused with -8, since it would name a file of the server. Addresses of an object parameter,
names and i-addresses are written as for the daemon.

This page is generated from the table in \`api/rpc/methods/\`; the examples are calls of the bundled recording and their answers.
Write it anew with \`npm test -- --update method-page\`.
`;

/** `examples` by method. */
export function methodPage(examples: ReadonlyMap<string, Example>): string {
  const groups = Object.entries(METHOD_GROUPS).map(([group, methods]) => {
    const sections = Object.entries(methods)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map((entry) => section(entry, examples.get(entry[0])));
    return [`## ${group}`, ...sections].join('\n\n');
  });
  const listed = [...differences.calls, ...differences.wire];
  const rows = [...new Map(listed.map(({ why, decision }) => [why, decision]))].map(
    ([why, decision]) => `- ${why} (decision ${decision})`,
  );
  const different = ['## What differs from the daemon', rows.join('\n')].join('\n\n');
  return `${[INTRODUCTION.trimEnd(), ...groups, different].join('\n\n')}\n`;
}

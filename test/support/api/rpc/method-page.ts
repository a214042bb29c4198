/** Generates docs/json-rpc.md: every method of the table, with an example from the recording. */

import { MOST_ANSWER_BYTES } from '../../../../api/access/answer-memory.ts';
import { DEADLY_CALLS } from '../../../../api/rpc/deadly-calls.ts';
import { METHOD_GROUPS, RPC_CREDITS, signatureOf } from '../../../../api/rpc/methods/method-table.ts';
import type { RpcMethod } from '../../../../api/rpc/methods/rpc-method.ts';
import { SYNCED_BLOCKS } from '../../../../api/state/index-lag.ts';
import { rawMember } from '../../../../domain/json/raw-json.ts';
import { answerOf, type RecordedCase, readCases } from '../../../../recordings/player/recorded-calls.ts';
import {
  MAX_BATCH_BYTES,
  MAX_CALL_BYTES,
  MAX_ID_BYTES,
  MAX_NESTING,
  MAX_PARAMETERS,
  MAX_TOKENS,
} from '../../../../schemas/verusd/rpc-body.ts';
import { differenceOfCall, differences } from './differences.ts';

export interface MethodExample {
  readonly params: string;
  /** Text of the result or the error. */
  readonly answer: string;
}

const LONGEST = 400;
const EMPTY = new Set(['null', '[]', '{}', '""']);

function exampleOf(
  recorded: RecordedCase,
): (MethodExample & { readonly method: string; readonly rank: number }) | null {
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
  // Results before errors, meaningful results before empty ones, short ones before long ones.
  const rank = ('error' in answer ? 2e9 : 0) + (EMPTY.has(text) || text.startsWith('{"error"') ? 1e9 : 0) + text.length;
  return { method, params, answer: text, rank };
}

/** The most meaningful and shortest example, by method. */
export function recordedExamples(folder: string): ReadonlyMap<string, MethodExample> {
  const best = new Map<string, MethodExample & { readonly rank: number }>();
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

function conditions(name: string, method: RpcMethod): string {
  const plural = credits(method) === 1 ? '' : 's';
  const cost = `${credits(method)} credit${plural}`;
  if (method.source !== 'daemon') return `${cost}, from the index${'asksDaemon' in method ? ' and the daemon' : ''}`;
  const { load, repeatable, servedWhen, guards, broadcasts } = method;
  const refused = [DEADLY_CALLS[name], servedWhen, ...guards].flatMap((guard) => guard?.refuses ?? []);
  return [
    `${cost}, ${load.name}`,
    ...(repeatable ? [`kept ${repeatable.kept}`] : []),
    ...(broadcasts ? ['broadcasts, never tried twice'] : []),
    ...(refused.length > 0 ? [`**refused:** ${refused.join('; ')}`] : []),
  ].join(' · ');
}

const typesOf = ({ types }: RpcMethod) =>
  types.length === 0 ? [] : ['', ...types.map(({ allows }, index) => `${index + 1}. ${allows}`)];

function section([name, method]: [string, RpcMethod], example: MethodExample | undefined): string {
  const shown = example ? ['', '```', `> ${abridged(example.params)}`, abridged(example.answer), '```'] : [];
  const head = [`### ${name}`, `\`${signatureOf(name, method)}\``, '', method.summary, ...typesOf(method)];
  return [...head, '', conditions(name, method), ...shown].join('\n');
}

const INTRODUCTION = `# JSON-RPC

\`POST /\` serves the first configured chain and \`POST /rpc/<chain>\` any chain; the host names \`rpc.*\` and \`<chain>.rpc.*\` do the same. A
chain that is not configured is 404. Any JSON-RPC client of the daemon works over HTTP/1.1: change its address; credentials are ignored.
Envelope, ids, numbers, error codes and HTTP statuses are those of the daemon, and bodies are passed on byte for byte. A batch has at most five calls.

\`\`\`
curl -s http://127.0.0.1:8080/ --data '{"id":1,"method":"getblockcount","params":[]}'
curl -s http://127.0.0.1:8080/rpc/vrsc --data '[{"id":1,"method":"getblockcount"},{"id":2,"method":"getinfo"}]'
\`\`\`

Without a key each call counts as a request of the minute; with a key it costs the credits below. Calls that wait for a daemon are
bounded: *light* calls have 30 s; *heavy* calls have 60 s and run three at a time; *slow* calls walk the whole chain, have 300 s and run
one at a time. Callers take turns. A call that does not fit into the queue, and a heavy or slow call that has waited for half of its time, is refused with
-32603 \`Work queue depth exceeded\`. Other errors are -32603 \`Internal error\` when a daemon does not answer, -28 while it starts, -32005 with HTTP 429 for too many requests, and -32601 for a method that is not served here.

A daemon's answer may have ${MOST_ANSWER_BYTES} bytes, the size of the largest block; a larger one is -32603 \`Answer too large\`. The answers that are
not yet sent to one caller may have twice that size in all; a batch counts as one answer, and twice while it is put together. Beyond that, the answer that has been largest
for longest fails, with its whole batch, with -32603 \`Answers to this caller hold too much memory\`, except for the transactions that the batch has broadcast. Ask for fewer addresses, or by
heights. Both errors are charged, and so are calls that ran into a time limit. When a client disconnects, the rest of its batch is not
executed. A call that a daemon is executing still counts as running after its client has disconnected, because the daemon continues with it; a heavy
or slow call still counts as running after its time limit, for at most three times that limit.

## Allowed calls
A daemon only receives calls that it can bear. The error of a call that is refused here states what is allowed, with an error code that the daemon uses for such
a fault; the daemon itself refuses everything else that is wrong, such as an unknown name.

| what | at most | otherwise |
|---|---|---|
| a call | ${MAX_CALL_BYTES} bytes: a transaction of 2,000,000 bytes as hexadecimal digits, and 4 kB | -32600 |
| a batch | ${MAX_BATCH_BYTES} bytes in all, each call as above | -32600 |
| open brackets, anywhere in the body | ${MAX_NESTING} | -32700 |
| values and keys of a call | ${MAX_TOKENS} | -32700 |
| \`id\` | ${MAX_ID_BYTES} bytes | -32600 |
| parameters | ${MAX_PARAMETERS} | -1 |

Raw control characters are not valid JSON (-32700). An escaped U+0000 is refused in every parameter (-8) and in the id (-32600), other
escaped control characters in every parameter except messages, passphrases and labels. A member \`filename\` is refused in every method
(-8), because it would name a file of the server.

The numbered lines of a method list what each of its parameters may be; other values are refused with -8, invalid addresses with -5. Where the
daemon reads JSON or wildcards in a text, only the plain form is accepted, except for the object of \`getcurrencyconverters\`. A single value of another
JSON type (a number for a name) is passed on, and the daemon answers it with its own error. Parameters that are described as a list or an
object may have more members than are named, with single values, which the daemon ignores.

Some calls crash a daemon, and are answered here:
${Object.entries(DEADLY_CALLS)
  .map(([name, { why }]) => `- \`${name}\`: ${why}`)
  .join('\n')}

\`gettxout\` with the mempool is answered from \`getrawtransaction\` for transactions with at most ten confirmations; the answer is the same.

While the index of a chain is more than ${SYNCED_BLOCKS} blocks behind its daemon, as in a first sync, the daemon answers \`getbestblockhash\`, \`getblockcount\`
and \`getblockhash\` for the same credits, so that they fit its other answers. The methods of this service alone answer as of the newest block of the index.

This page is generated from the table in \`api/rpc/methods/\`; the examples are calls of the bundled recording and their answers.
Generate it again with \`npm test -- method-page --update\`.
`;

/** `examples` by method. */
export function methodPage(examples: ReadonlyMap<string, MethodExample>): string {
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

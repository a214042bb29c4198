/** A long answer is written in pieces, with pauses for other work, and no faster than it is read. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { collectedOutput } from '../test/support/commands/collected-output.ts';
import { answer } from './answer.ts';
import type { CommandOutcome } from './command.ts';

const NONE: CommandOutcome = { exitCode: 0, state: null };
const asked = (json: boolean) => ({ name: 'sql', json, help: false, input: {} }) as Parameters<typeof answer>[0];

it('writes a document as JSON.stringify does', async () => {
  const document = fc.dictionary(
    fc.string(),
    fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()), fc.constant(undefined)),
  );
  await fc.assert(
    fc.asyncProperty(document, async (state) => {
      const { output, lines } = collectedOutput();
      await answer(asked(true), output, async () => ({ exitCode: 0, state }));
      expect(lines).toEqual([JSON.stringify({ command: 'sql', version: 1, ...state })]);
    }),
  );
});

it('yields to other work', async () => {
  let hadTurn = false;
  let count = 0;
  setImmediate(() => {
    hadTurn = true;
  });
  function* texts() {
    for (; !hadTurn && count < 20_000_000; count++) yield '';
    yield 'end\n';
  }
  const { output, lines } = collectedOutput();
  await answer(asked(false), output, async ({ write }) => {
    await write(texts());
    return NONE;
  });
  expect(hadTurn).toBe(true);
  expect(lines).toEqual(['end']);
});

it.each([false, true])('waits until a piece has been taken, with --json: %s', async (json) => {
  const rows = Array.from({ length: 100_000 }, (_, number) => ({ number }));
  const taken: (() => void)[] = [];
  const pieces: string[] = [];
  const piece = (text: string) => {
    pieces.push(text);
    return new Promise<void>((resolve) => taken.push(resolve));
  };
  let isOver = false;
  const answered = answer(asked(json), { ...collectedOutput().output, piece }, async ({ write }) => {
    await write(rows.map((row) => `${JSON.stringify(row)}\n`));
    return { exitCode: 0, state: { rows } };
  }).then(() => {
    isOver = true;
  });
  for (let count = 1; !isOver; count++) {
    await expect.poll(() => isOver || taken.length > 0).toBe(true);
    if (!isOver) expect(pieces.length).toBe(count);
    taken.shift()?.();
  }
  await answered;
  expect(pieces.length).toBeGreaterThan(10);
  const text = pieces.join('');
  expect(
    json
      ? JSON.parse(text).rows
      : text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
  ).toEqual(rows);
});

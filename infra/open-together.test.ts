import { expect, it } from 'vitest';
import { type Closers, openTogether } from './open-together.ts';

const [first, second] = [new Error('the first'), new Error('the second')];

function closing(calls: string[], closers: Closers): void {
  closers.push(() => calls.push('a'));
  closers.push(() => Promise.reject(first));
  closers.push(() => calls.push('b'));
}

it('closes the rest when a closer throws, and throws that', async () => {
  const calls: string[] = [];
  const opened = await openTogether(async (closers) => {
    closing(calls, closers);
    return { name: 'x' };
  });
  await expect(opened.close()).rejects.toBe(first);
  expect(calls).toEqual(['b', 'a']);
  await opened.close();
  expect(calls).toEqual(['b', 'a']);
});

it('throws what opening and closing threw', async () => {
  const calls: string[] = [];
  const opening = openTogether<object>(async (closers) => {
    closing(calls, closers);
    throw second;
  });
  await expect(opening).rejects.toMatchObject({ message: 'the second; the first', errors: [second, first] });
  expect(calls).toEqual(['b', 'a']);
});

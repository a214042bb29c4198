/** A client that has received an undo is never answered with what the reorganisation reverted. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStream } from '../../client/stream/stream.ts';
import { recordedBranches } from '../laws/chain-records.ts';
import { type RunningService, startService } from './running-service.ts';

const { orphans, fork } = recordedBranches();
/** A path whose answer is prepared, and one whose answer is not. */
const PATHS = ['/api/stats/pulse', '/api/blocks/'] as const;

let service: RunningService;

beforeAll(async () => {
  service = await startService({ startHeight: fork });
  await service.settled();
});

afterAll(() => service.stop());

it('answers with the current branch as soon as the stream has sent the undo', async () => {
  async function namesReverted(path: string): Promise<boolean> {
    const text = await (await fetch(`${service.url}${path}`)).text();
    return orphans.some(({ hash }) => text.includes(hash));
  }
  const revertedPaths = async () => {
    const named = await Promise.all(PATHS.map(namesReverted));
    return PATHS.filter((_, index) => named[index]);
  };
  const ended = new AbortController();
  const events = openStream({ baseUrl: service.url, channels: ['blocks'], signal: ended.signal })[
    Symbol.asyncIterator
  ]();
  const first = events.next(); // connects
  while (service.node.hash !== orphans.at(-1)?.hash) {
    service.node.step();
    await service.settled();
    await revertedPaths();
  }
  expect(await revertedPaths(), 'the branch that loses is the current one').toEqual(PATHS);
  service.node.step();
  let event = await first;
  while (event.value?.type !== 'undo') event = await events.next();
  expect(await revertedPaths()).toEqual([]);
  ended.abort();
});

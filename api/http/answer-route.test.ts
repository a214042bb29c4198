import { describe, expect, it } from 'vitest';
import type { ServiceState } from '../state/service-state.ts';
import { type AnswerOptions, answerRoute, preparedReply, type RequestInfo } from './answer-route.ts';
import type { StateRoute } from './route.ts';

const stateNamed = (tag: string) => ({ tag, chainTag: () => tag }) as unknown as ServiceState;
const OLD = stateNamed('old');
const NEW = stateNamed('new');
const route = { cache: 'state', scope: 'chain', parameters: {} } as unknown as StateRoute;
const request = { params: { chain: 'vrsc' }, key: 'vrsc' };
const asked = (tag: string) => ({ ifNoneMatch: `"${tag}"`, accept: '', acceptEncoding: '' }) as RequestInfo;

/** This process has seen OLD; `committed` is what the store holds. Reading an answer from the store rejects. */
function optionsAt(committed: ServiceState): AnswerOptions {
  const api = { watch: { state: OLD }, snapshot: () => Promise.reject(new Error('reads the store')) };
  const options = { api, apiOf: () => api, repeated: { get: () => undefined }, currentState: async () => committed };
  return options as unknown as AnswerOptions;
}

const answer = (committed: ServiceState, tag: string) =>
  answerRoute(
    optionsAt(committed),
    route,
    request,
    asked(tag),
    { caller: {} } as never,
    () => new AbortController().signal,
  );

describe('an answer of a state', () => {
  it('is 304 while the committed state is that of the client', async () => {
    expect(await answer(OLD, 'old')).toMatchObject({ status: 304, body: null });
  });

  it('is read again when another process has committed a block that this process has not seen', async () => {
    expect(preparedReply(optionsAt(NEW), route, request, asked('old'), {} as never)).toBeNull();
    await expect(answer(NEW, 'old')).rejects.toThrow('reads the store');
  });

  it('is read for a client that has another state', async () => {
    await expect(answer(OLD, 'other')).rejects.toThrow('reads the store');
  });
});

/** Recorded answers of the daemon: calls at the recorded tip, and answers derived for any height. */

import { parseExact } from '../../domain/json/exact-json.ts';
import { type RecordingView, viewChain } from '../../recordings/player/chain-view.ts';
import { createDerivations } from '../../recordings/player/derivations.ts';
import { answerOf, loadRecordedCalls, readCases } from '../../recordings/player/recorded-calls.ts';
import { loadRecording } from '../../recordings/player/recording.ts';
import { RpcFailure } from '../../recordings/player/rpc-failure.ts';
import { RECORDING } from '../api/running-service.ts';
import { parsed } from './canonical.ts';

export interface NamedAnswer {
  readonly name: string;
  readonly params: readonly unknown[];
  readonly result: unknown;
}

const recording = loadRecording(RECORDING);
const derivations = createDerivations(recording, loadRecordedCalls(RECORDING));
const cases = Map.groupBy(readAnswers(), ({ name }) => name.slice(0, name.indexOf('/')));

export const tip = recording.tip;

/** Recorded calls of a method that have a result; calls with deliberately broken parameters only with `broken`. */
export function answersOf(method: string, { broken = false } = {}): readonly NamedAnswer[] {
  return (cases.get(method) ?? []).filter(({ name }) => broken || !name.includes('/_fuzz'));
}

function* readAnswers(): Generator<NamedAnswer> {
  for (const recorded of readCases(RECORDING)) {
    if (!('body' in recorded)) continue;
    const answer = answerOf(recorded.body);
    if (!('result' in answer)) continue;
    const { params } = parsed(recorded.request);
    yield { name: recorded.name, params: (params ?? []) as unknown[], result: parseExact(answer.result) };
  }
}

const views = new Map<number, RecordingView>();

/** Text of the answer when the chain is at a height, 'error' for an error, undefined if the recording has no answer. */
export function answerAt(height: number, method: string, ...params: unknown[]): string | undefined {
  const view = views.get(height) ?? viewChain(recording, { branch: 'main', height, orphansKnown: true });
  views.set(height, view);
  try {
    return (
      derivations[method]?.(
        view,
        params.map((param) => JSON.stringify(param)),
      ) ?? undefined
    );
  } catch (error) {
    if (error instanceof RpcFailure) return 'error';
    throw error;
  }
}

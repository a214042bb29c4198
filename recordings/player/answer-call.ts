/**
 * Answers one call as the daemon did or would have: at the recorded tip with the recorded answer, byte for byte; otherwise with an answer
 * derived from the released blocks; otherwise with an error that says that the recording has no answer. It never invents an answer.
 */
import type { RecordingView } from './chain-view.ts';
import type { Derive } from './derivation.ts';
import { createDerivations } from './derivations.ts';
import type { RecordedAnswer, RecordedCalls } from './recorded-calls.ts';
import type { Recording } from './recording.ts';
import { DaemonDied, RpcFailure, WrongParameterCount } from './rpc-failure.ts';

/**
 * Methods that depend only on their parameters or on settings of the node, so that their answers hold at every height. The wallet is as of
 * the tip.
 */
const TIMELESS = new Set([
  'convertpassphrase',
  'createmultisig',
  'getdeprecationinfo',
  'getnetworkinfo',
  'getvdxfid',
  'getwalletinfo',
  'hashdata',
  'help',
  'z_listaddresses',
]);

/** Returns the text of the result. Throws RpcFailure, or DaemonDied where the recorded daemon crashed. */
export type AnswerCall = (view: RecordingView, method: string, params: string, texts: readonly string[]) => string;

/** Errors about wrong parameters do not depend on the chain: the help text, or the name of the expected type. */
function isTimeless(calls: RecordedCalls, method: string, answer: RecordedAnswer): boolean {
  if (TIMELESS.has(method)) return true;
  if (!('error' in answer)) return false;
  return answer.error === calls.helpError(method) || answer.error.startsWith('{"code":-1,"message":"JSON ');
}

function replay(answer: RecordedAnswer): string {
  if ('result' in answer) return answer.result;
  if ('died' in answer) throw new DaemonDied('this call crashed the recorded daemon');
  const { code, message } = JSON.parse(answer.error) as { code: number; message: string };
  throw new RpcFailure(code, message);
}

export function createAnswerCall(recording: Recording, calls: RecordedCalls): AnswerCall {
  const derivations = createDerivations(recording, calls);

  function deriveOrExplain(
    derive: Derive,
    view: RecordingView,
    method: string,
    texts: readonly string[],
  ): string | null {
    try {
      return derive(view, texts);
    } catch (error) {
      const help = error instanceof WrongParameterCount ? calls.helpError(method) : undefined;
      if (help === undefined) throw error;
      return replay({ error: help });
    }
  }

  return (view, method, params, texts) => {
    const recorded = calls.find(method, params);
    if (recorded !== undefined && view.atRecordedTip) return replay(recorded);
    const derive = Object.hasOwn(derivations, method) ? derivations[method] : undefined;
    const derived = derive === undefined ? null : deriveOrExplain(derive, view, method, texts);
    if (derived !== null) return derived;
    if (recorded !== undefined && isTimeless(calls, method, recorded)) return replay(recorded);
    if (derive === undefined && !calls.knowsMethod(method)) throw new RpcFailure(-32601, `Method ${method} not found`);
    throw new RpcFailure(-1, `not in the recording at height ${view.height}: ${method} ${params}`);
  };
}

/** Actions of the reader. */
import { useState } from 'preact/hooks';
import type { ActOutcome, Trouble } from '../kit.ts';

/** Runs a call when the reader asks for it, unless one is still running. */
export function useAction(onDone: () => void) {
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const run = async <Data>(send: () => Promise<ActOutcome<Data>>): Promise<ActOutcome<Data> | null> => {
    if (isBusy) return null;
    setBusy(true);
    const outcome = await send();
    setBusy(false);
    setTrouble(outcome.trouble);
    if (outcome.trouble === null) onDone();
    return outcome;
  };
  return { trouble, run };
}

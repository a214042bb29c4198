/** Counts what the daemons' answers to one request hold until it is answered, and knows whether it is still wanted. */

import { RetryableError } from '../../schemas/errors.ts';
import type { HeldAnswer, HeldAnswers } from '../http/held-answers.ts';
import type { WorkOwner } from './priority-lanes.ts';

/** The verbose form of the largest legal block, 2 MB of smallest outputs: no other answer has to be larger. */
export const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/** The client is gone, or the answers to its caller hold too much memory. */
export class AnswerGivenUp extends RetryableError {
  constructor() {
    super('answer_given_up', 'answers to this caller hold too much memory at the moment');
  }
}

export interface AnswerMemory {
  /** Aborts when it is given up. */
  readonly signal: AbortSignal;
  /** Nothing more is to be asked for it. */
  readonly isGivenUp: boolean;
  /** Bytes of the reply that arrives, on top of what is kept. */
  holds(bytes: number): void;
  /** Bytes of the replies that have arrived. */
  keep(bytes: number): void;
  giveUp(): void;
  /** Its answer is written, or no longer waited for: nothing counts from now on. */
  release(): void;
}

/** Whose work it is, and where its answers count. */
export interface Asker extends WorkOwner {
  readonly memory?: AnswerMemory | undefined;
}

/** A class, since one is made at every call. */
class CountedMemory implements AnswerMemory {
  readonly #answers: Pick<HeldAnswers, 'gather'>;
  readonly #payer: string;
  /** Made when the signal is asked for, which a call that is answered at once never does. */
  #calledOff: AbortController | null = null;
  #held: HeldAnswer | null = null;
  #kept = 0;
  #isReleased = false;
  isGivenUp = false;

  constructor(answers: Pick<HeldAnswers, 'gather'>, payer: string) {
    this.#answers = answers;
    this.#payer = payer;
  }

  get signal(): AbortSignal {
    if (!this.#calledOff) {
      this.#calledOff = new AbortController();
      if (this.isGivenUp) this.#calledOff.abort(new AnswerGivenUp());
    }
    return this.#calledOff.signal;
  }

  holds(bytes: number): void {
    const sum = this.#kept + bytes;
    if (this.#isReleased || (sum === 0 && !this.#held)) return;
    this.#held ??= this.#answers.gather(this.#payer, () => this.giveUp());
    this.#held.keep(sum);
  }

  keep(bytes: number): void {
    this.#kept = bytes;
    this.holds(0);
  }

  giveUp(): void {
    if (this.isGivenUp) return;
    this.isGivenUp = true;
    this.release();
    this.#calledOff?.abort(new AnswerGivenUp());
  }

  release(): void {
    this.#isReleased = true;
    this.#held?.release();
    this.#held = null;
  }
}

export const createAnswerMemory = (answers: Pick<HeldAnswers, 'gather'>, payer: string): AnswerMemory =>
  new CountedMemory(answers, payer);

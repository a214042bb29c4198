/** Counts the memory that daemon replies hold for one request until it is answered, and tracks whether the request is still wanted. */

import { RetryableError } from '../../schemas/errors.ts';
import type { HeldAnswer, HeldAnswers } from '../http/held-answers.ts';
import type { WorkOwner } from './priority-lanes.ts';

/** Size of the verbose form of the largest legal block (2 MB of smallest outputs); no other answer needs more. */
export const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/** The client has disconnected, or the answers to this caller hold too much memory. */
export class AnswerGivenUp extends RetryableError {
  constructor() {
    super('answer_given_up', 'answers to this caller hold too much memory at the moment');
  }
}

export interface AnswerMemory {
  /** Aborts when the answer is given up. */
  readonly signal: AbortSignal;
  /** When true, no further daemon calls may be made for this answer. */
  readonly isGivenUp: boolean;
  /** Sets the bytes of the reply that is arriving, in addition to the kept bytes. */
  holds(bytes: number): void;
  /** Sets the bytes of the replies that have arrived. */
  keep(bytes: number): void;
  giveUp(): void;
  /** Stops counting: the answer has been written, or the request no longer waits for it. */
  release(): void;
}

/** The owner of the work, and the memory in which its answers count. */
export interface Asker extends WorkOwner {
  readonly memory?: AnswerMemory | undefined;
}

/** A class because every call creates one. */
class CountedMemory implements AnswerMemory {
  readonly #answers: Pick<HeldAnswers, 'gather'>;
  readonly #payer: string;
  /** Created on first use of `signal`; a call that is answered at once never needs it. */
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

/** Answers that depend on no store and no caller, and are always available. */
import type { RequestInfo } from './answer-route.ts';
import type { ApiError } from './api-error.ts';
import type { Answerer } from './exchange.ts';
import type { Reply } from './reply.ts';

export function always(reply: Reply): Answerer {
  return { atHand: () => reply, make: async () => reply };
}

/** Refuses every request with the error that `refusal` returns for it. */
export function refusing(refusal: (asked: RequestInfo) => ApiError): Answerer {
  const refuse = (asked: RequestInfo): never => {
    throw refusal(asked);
  };
  return { atHand: refuse, make: refuse };
}

/** A connection of the push stream costs one credit, before it is made; what it then carries costs nothing. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Fare } from '../access/gate.ts';
import { type ExchangeOptions, problemTo } from '../http/exchange.ts';
import { type HeaderLines, NO_LINES } from '../http/header-lines.ts';

export const CONNECTION = { credits: 1, tier: null } as const;

/** `open` is called with the headers of the limits once the caller may connect and is still there. */
export function admitConnection(
  options: ExchangeOptions,
  res: HttpResponse,
  req: HttpRequest,
  template: string,
  fare: Fare,
  open: (headers: HeaderLines) => void,
): void {
  const refuse = problemTo(options, res, req, template);
  const visitor = options.access.readVisitor(res, req);
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  const admit = async () => options.access.gate.rest(visitor, fare);
  admit().then(
    ({ refusal, headers }) => {
      if (aborted) return;
      if (refusal) refuse(refusal, headers);
      else open(headers);
    },
    (error: unknown) => {
      if (!aborted) refuse(error, NO_LINES);
    },
  );
}

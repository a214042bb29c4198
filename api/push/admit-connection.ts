/** A connection of the push stream costs one credit, before it is made; what it then carries costs nothing. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { type ExchangeOptions, problemTo } from '../http/exchange.ts';
import { type HeaderLines, NO_LINES } from '../http/header-lines.ts';

const CONNECTION_CREDITS = 1;

/** `open` is called with the headers of the limits once the caller may connect and is still there. */
export function admitConnection(
  options: ExchangeOptions,
  res: HttpResponse,
  req: HttpRequest,
  template: string,
  open: (headers: HeaderLines) => void,
): void {
  const refuse = problemTo(options, res, req, template);
  const visitor = options.access.readVisitor(res, req);
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  const admit = async () => options.access.gate.rest(visitor, { credits: CONNECTION_CREDITS, tier: null });
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

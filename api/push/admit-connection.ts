/** A connection of the push stream costs one credit, before it is made; what it then carries costs nothing. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Admission } from '../access/gate.ts';
import { type DispatcherOptions, problemTo } from '../http/dispatcher.ts';

const CONNECTION_CREDITS = 1;

/** `open` is called with the headers of the limits once the caller may connect and is still there. */
export function admitConnection(
  options: DispatcherOptions,
  res: HttpResponse,
  req: HttpRequest,
  template: string,
  open: (headers: Admission['headers']) => void,
): void {
  const refuse = problemTo(options, res, req, template);
  const visitor = options.access.readVisitor(res, req);
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  Promise.resolve()
    .then(() => options.access.gate.rest(visitor, { credits: CONNECTION_CREDITS, tier: null }))
    .then(
      ({ refusal, headers }) => {
        if (aborted) return;
        if (refusal) refuse(refusal, headers);
        else open(headers);
      },
      (error: unknown) => {
        if (!aborted) refuse(error, {});
      },
    );
}

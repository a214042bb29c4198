/** A connection of the push stream costs one credit; what it then carries costs nothing. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Admission } from '../access/gate.ts';
import { type ExchangeOptions, problemTo } from '../http/exchange.ts';
import { type HeaderLines, NO_LINES } from '../http/header-lines.ts';
import type { Soon } from '../http/soon.ts';

/** What becomes of one who wants to connect. */
export interface Door {
  /** Connects it, with the headers of the limits. */
  open(headers: HeaderLines): void;
  /**
   * For what can only be opened in the callback of the request: opens it while the limits are still being asked for.
   * Returns the way to turn it away after all.
   */
  openAtOnce?(): (error: unknown) => void;
}

const CONNECTION = { credits: 1, tier: null };

/** Opens to a caller who may connect and is still there; anybody else is answered with the problem. */
export function admitConnection(
  options: ExchangeOptions,
  res: HttpResponse,
  req: HttpRequest,
  template: string,
  { open, openAtOnce }: Door,
): void {
  const refuse = problemTo(options, res, req, template);
  const visitor = options.access.readVisitor(res, req);
  const decide = ({ refusal, headers }: Admission) => (refusal ? refuse(refusal, headers) : open(headers));
  let admission: Soon<Admission>;
  try {
    admission = options.access.gate.rest(visitor, CONNECTION);
  } catch (error) {
    refuse(error, NO_LINES);
    return;
  }
  if (!(admission instanceof Promise)) {
    decide(admission);
    return;
  }
  if (openAtOnce) {
    const turnAway = openAtOnce();
    admission.then(({ refusal }) => {
      if (refusal) turnAway(refusal);
    }, turnAway);
    return;
  }
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  admission.then(
    (admitted) => aborted || decide(admitted),
    (error: unknown) => aborted || refuse(error, NO_LINES),
  );
}

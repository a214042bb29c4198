/** A connection of the push stream costs one credit; what it then carries costs nothing. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Admission } from '../access/gate.ts';
import { type ExchangeOptions, problemTo } from '../http/exchange.ts';
import { type HeaderLines, NO_LINES } from '../http/header-lines.ts';
import type { NetworkShare, NetworkShares } from './network-share.ts';

/** Outcomes of a connection attempt; each returns the network's share if there is nothing to connect. */
export interface Door {
  /** Connects it, with the headers of the limits; where it cannot be, `refuse` answers with the problem. */
  open(headers: HeaderLines, share: NetworkShare, refuse: (error: unknown) => void): void;
  /**
   * For what can only be opened in the callback of the request: opens it while the limits are still being asked for.
   * Returns the way to turn it away after all.
   */
  openAtOnce?(share: NetworkShare): (error: unknown) => void;
}

/** Opens the connection for a caller that may connect and is still there; others get the problem. Reads nothing before. */
export function admitConnection(
  options: ExchangeOptions,
  shares: NetworkShares,
  res: HttpResponse,
  req: HttpRequest,
  template: string,
  { open, openAtOnce }: Door,
): void {
  const { gate, readVisitor } = options.access;
  const visitor = readVisitor(res, req);
  const refuse = problemTo(options, res, req, template, visitor);
  const { network } = visitor; // cannot be read later
  const connection = { template, credits: 1, tier: null };
  const decide = ({ refusal, headers }: Admission) => {
    if (refusal) return refuse(refusal, headers);
    const share = shareOrRefuse(headers);
    if (!share) return;
    open(headers, share, (error) => {
      share.close();
      refuse(error, headers);
    });
  };

  function shareOrRefuse(headers: HeaderLines): NetworkShare | null {
    try {
      return shares.open(network);
    } catch (error) {
      refuse(error, headers);
      return null;
    }
  }

  async function decideLater(): Promise<void> {
    let aborted = false;
    res.onAborted(() => {
      aborted = true;
    });
    await gate.rest(visitor, connection).then(
      (admitted) => aborted || decide(admitted),
      (error: unknown) => aborted || refuse(error, NO_LINES),
    );
  }

  async function decideWhileOpen(connect: NonNullable<Door['openAtOnce']>): Promise<void> {
    const admission = gate.rest(visitor, connection);
    const share = shareOrRefuse(NO_LINES);
    const refuseConnected = share ? connect(share) : () => undefined; // without a share it is refused already
    const refusal = await admission.then(
      (admitted) => admitted.refusal,
      (error: unknown) => error,
    );
    if (refusal) refuseConnected(refusal);
  }

  const admission = gate.restNow(visitor, connection);
  if (admission) decide(admission);
  else if (openAtOnce) void decideWhileOpen(openAtOnce);
  else void decideLater();
}

/** Admits connections to the push stream: a connection costs one credit, its messages cost none. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Admission } from '../access/gate.ts';
import { type ExchangeOptions, problemTo } from '../http/exchange.ts';
import { type HeaderLines, NO_LINES } from '../http/header-lines.ts';
import type { NetworkShare, NetworkShares } from './network-share.ts';

/** Ways to open a connection; an implementation that connects nothing gives the network's share back. */
export interface Door {
  /** Opens the connection; `headers` are those of the limits. Calls `refuse`, which answers with the problem, if it cannot. */
  open(headers: HeaderLines, share: NetworkShare, refuse: (error: unknown) => void): void;
  /**
   * For connections that can only be opened in the callback of the request: opens the connection before the limits are known.
   * Returns a function that refuses the connection afterwards.
   */
  openAtOnce?(share: NetworkShare): (error: unknown) => void;
}

/** Opens the connection if the caller may connect and is still there, else answers with the problem. Parses nothing before that. */
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
  const connection = { template, credits: 1 };
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
    const refuseConnected = share ? connect(share) : () => undefined; // without a share the caller has been refused already
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

/** Where a request ends, by its headers: what two readers could read differently is refused (RFC 9112, 6.3 and 11.2). */
import type { HttpRequest } from 'uWebSockets.js';

/** Bytes of the body that follows, 0 for none; `chunked` when only its chunks will tell. */
export type AnnouncedBody = number | 'chunked';

/** Why a request is refused before anything of it is used. */
export class FramingFault {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

/** Far above every body that is taken, far below what a double cannot hold. */
const LENGTH = /^\d{1,15}$/;

/** A name or an address, and perhaps a port: no path, no user, no second host. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.-]*)(?::\d{0,5})?$/;

const twice = (name: string) => new FramingFault(`the request has more than one ${name} header; one is allowed`);

/** Looks at every header line: getHeader() tells neither the second of a name nor an empty one from none. */
export function readFraming(req: Pick<HttpRequest, 'forEach'>): AnnouncedBody | FramingFault {
  let hosts = 0;
  let lengths = 0;
  let codings = 0;
  let host = '';
  let length = '';
  let coding = '';
  req.forEach((name, value) => {
    if (name === 'host') {
      hosts += 1;
      host = value;
    } else if (name === 'content-length') {
      lengths += 1;
      length = value;
    } else if (name === 'transfer-encoding') {
      codings += 1;
      coding = value;
    }
  });
  if (hosts > 1) return twice('Host');
  if (!HOST.test(host)) return new FramingFault('Host must be a name or an address, with or without a port');
  if (lengths === 0 && codings === 0) return 0;
  if (lengths > 1) return twice('Content-Length');
  if (codings > 1) return twice('Transfer-Encoding');
  if (lengths === 0) return coding.toLowerCase() === 'chunked' ? 'chunked' : new FramingFault(CODINGS);
  if (codings > 0) return new FramingFault('a request has either Content-Length or Transfer-Encoding, never both');
  return LENGTH.test(length) ? Number(length) : new FramingFault('Content-Length must be 1 to 15 decimal digits');
}

const CODINGS = 'Transfer-Encoding must be exactly chunked: no other transfer coding is taken';

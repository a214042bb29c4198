/** Finds the end of a request from its headers, and refuses headers that two parsers could read differently (RFC 9112, 6.3 and 11.2). */
import type { HttpRequest } from 'uWebSockets.js';

/** Bytes of the body, 0 for none; `chunked` when the length is unknown until the last chunk. */
export type AnnouncedBody = number | 'chunked';

/** Why a request is refused before anything in it is used. */
export class FramingFault {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

/** Far above every accepted body, and far below the largest exact integer of a double. */
const LENGTH = /^\d{1,15}$/;

/** A name or an address, with an optional port: no path, no user, no second host. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.-]*)(?::\d{0,5})?$/;

const twice = (name: string) => new FramingFault(`the request has more than one ${name} header; one is allowed`);

/** The framing headers of the request being read. Requests are read one at a time, so they share this object: no closure per request. */
const seen = { hosts: 0, lengths: 0, codings: 0, host: '', length: '', coding: '' };

function note(name: string, value: string): void {
  if (name === 'host') {
    seen.hosts += 1;
    seen.host = value;
  } else if (name === 'content-length') {
    seen.lengths += 1;
    seen.length = value;
  } else if (name === 'transfer-encoding') {
    seen.codings += 1;
    seen.coding = value;
  }
}

/** Checks every header line: getHeader() hides repeated lines and does not distinguish an empty one from a missing one. */
export function readFraming(req: Pick<HttpRequest, 'forEach'>): AnnouncedBody | FramingFault {
  seen.hosts = 0;
  seen.lengths = 0;
  seen.codings = 0;
  seen.host = '';
  req.forEach(note);
  const { hosts, lengths, codings, host, length, coding } = seen;
  if (hosts > 1) return twice('Host');
  if (!HOST.test(host)) return new FramingFault('Host must be a name or an address, with or without a port');
  if (lengths === 0 && codings === 0) return 0;
  if (lengths > 1) return twice('Content-Length');
  if (codings > 1) return twice('Transfer-Encoding');
  if (lengths === 0) return coding.toLowerCase() === 'chunked' ? 'chunked' : new FramingFault(CODINGS);
  if (codings > 0) return new FramingFault('a request may have Content-Length or Transfer-Encoding, not both');
  return LENGTH.test(length) ? Number(length) : new FramingFault('Content-Length must be 1 to 15 decimal digits');
}

const CODINGS = 'Transfer-Encoding must be exactly chunked: no other transfer coding is allowed';

/** Splits http://user:password@host:port into a part that may be logged and the credentials, which must not be. */
import { decodePart } from '../server-address.ts';
import { DaemonAddressInvalid } from './daemon-errors.ts';

export interface DaemonAddress {
  readonly origin: string;
  /** Value of the Authorization header; null without credentials. */
  readonly authorization: string | null;
}

const FORM = 'expected http://user:password@host:port';

/** @throws DaemonAddressInvalid, whose message omits the address because it contains a password */
export function parseDaemonAddress(rpc: string): DaemonAddress {
  const url = parseUrl(rpc);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new DaemonAddressInvalid(`the scheme of the daemon address is ${url.protocol}; ${FORM}`);
  }
  if (url.pathname !== '/' || url.search || url.hash) {
    throw new DaemonAddressInvalid(`the address of daemon ${url.host} has a path, but a daemon serves none; ${FORM}`);
  }
  if (!url.username && !url.password) return { origin: url.origin, authorization: null };
  const credentials = `${decodePart(url.username)}:${decodePart(url.password)}`;
  return { origin: url.origin, authorization: `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}` };
}

function parseUrl(rpc: string): URL {
  // Checked beforehand, because the error of new URL() carries its input.
  if (!URL.canParse(rpc)) throw new DaemonAddressInvalid(`the daemon address is not a URL; ${FORM}`);
  return new URL(rpc);
}

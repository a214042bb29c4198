/** Decides which addresses a webhook may be sent to. */
import ipaddr from 'ipaddr.js';
import { PermanentError } from '../../schemas/errors.ts';
import { ALLOWED_PORTS, isReceiverPort } from './receiver-ports.ts';

export class ReceiverRefused extends PermanentError {
  constructor(why: string) {
    super('receiver_refused', why);
  }
}

/** Does not contain the address: a stranger could scan the service's network with it. */
export class AddressForbidden extends Error {
  constructor() {
    super('the receiver is at an address that is not public');
    this.name = 'AddressForbidden';
  }
}

/** Global unicast by IANA's registries: allocated ranges, without those that map to other addresses. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** A public address by its number; inside Azure it answers for the host machine. */
const AZURE_HOST = '168.63.129.16';

export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_HOST) return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_IPV6);
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}

/** Whether connecting to an address is allowed for the URL's scheme. */
export type AllowsAddress = (address: string, protocol: string) => boolean;

/** Allows public addresses over https; with `allowLocal` also this machine, over https and http. */
export function receiverPolicy(allowLocal: boolean): AllowsAddress {
  return (address, protocol) => (protocol === 'https:' && isPublic(address)) || (allowLocal && isLoopback(address));
}

/**
 * Checks the text of a URL. Names are checked at each connection, since their addresses change.
 * @throws ReceiverRefused
 */
export function checkReceiverUrl(text: string, allowLocal: boolean): URL {
  if (!URL.canParse(text)) throw new ReceiverRefused('the URL cannot be read');
  const url = new URL(text); // writes decimal, octal and hexadecimal forms of an IPv4 address as the dotted one
  if (url.protocol !== 'https:' && !(allowLocal && url.protocol === 'http:')) {
    throw new ReceiverRefused('the URL must begin with https://');
  }
  if (url.username !== '' || url.password !== '')
    throw new ReceiverRefused('the URL must not hold a user or a password');
  if (!isReceiverPort(url)) {
    throw new ReceiverRefused(`webhooks do not go to the port of this URL; allowed are ${ALLOWED_PORTS}`);
  }
  const host = bareHost(url.hostname);
  if (ipaddr.isValid(host) && !receiverPolicy(allowLocal)(host, url.protocol)) {
    throw new ReceiverRefused('the URL names an address that is not public');
  }
  if (!allowLocal && /(^|\.)localhost\.?$/.test(host)) throw new ReceiverRefused('the URL names this machine');
  return url;
}

/** Removes the brackets of an IPv6 address in a URL. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

interface Resolved {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  done: (error: Error | null, addresses: readonly Resolved[]) => void,
) => void;

type LookupDone = (error: Error | null, address: string | readonly Resolved[], family?: number) => void;

/**
 * A `lookup` for `net.connect`. Connections go to the very addresses that it returns, so a name that resolves to another address a
 * moment later has no effect. A name is refused if any of its addresses is forbidden.
 */
export function checkedLookup(allows: (address: string) => boolean, resolve: Resolve) {
  return (hostname: string, options: { readonly all?: boolean }, done: LookupDone): void => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses;
      if (error || !first) done(error ?? new Error('the name has no address'), []);
      else if (!addresses.every(({ address }) => allows(address))) {
        done(new AddressForbidden(), []);
      } else if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

/** Reads the visitor from the connection and its headers, before the first await: the request is invalid afterwards. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import ipaddr from 'ipaddr.js';
import { memoize } from '../state/memoize.ts';
import { isSession } from './tokens.ts';

export interface Visitor {
  /**
   * An IPv4 address, or the /64 of an IPv6 address because a customer can choose the remaining bits. Computed on first read, which must
   * precede the first await: most requests with a key do not need it. The value is `gone` if the client has reset the connection, which
   * then has no address, although requests that it sent before are still served.
   */
  readonly network: string;
  /** The token of `Authorization: Bearer`, else empty: other schemes, such as a daemon's Basic credentials, are ignored. */
  readonly bearer: string;
  /** The X-API-Key header if the bearer is empty or a session; else empty. */
  readonly apiKey: string;
}

export type ReadVisitor = (res: HttpResponse, req: HttpRequest) => Visitor;
type ReadNetwork = (res: HttpResponse, req: HttpRequest) => string;

const BEARER = /^bearer +(\S+)$/i;

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Subnet = [Address, number];

const IPV6_PREFIX_BYTES = 8;
const OF_IPV6 = '/64';
const ALLOCATION_BYTES = 6;
/** Clients without an address share one allowance, so that a reset connection does not get a new one. */
const GONE = 'gone';
const MEMOIZED = 10_000;

/** `trustedProxies`: addresses and CIDRs whose X-Forwarded-For entries are trusted, from the right up to the first untrusted address. */
export function createReadVisitor(trustedProxies: readonly string[]): ReadVisitor {
  const trusted = trustedProxies.map(readSubnet);
  const bearerIn = memoize((authorization) => BEARER.exec(authorization)?.[1] ?? '', MEMOIZED);
  const networkOfPeer = memoize((bytes) => networkOf(peerOf(bytes)), MEMOIZED);
  const readNetwork = (res: HttpResponse, req: HttpRequest) => {
    const bytes = Buffer.from(res.getRemoteAddress()).toString('latin1');
    if (bytes === '') return GONE;
    if (trusted.length === 0) return networkOfPeer(bytes);
    return networkOf(clientOf(peerOf(bytes), trusted, () => forwardedFor(req)));
  };
  return (res, req) => {
    const authorization = req.getHeader('authorization');
    const bearer = authorization === '' ? '' : bearerIn(authorization);
    const apiKey = bearer === '' || isSession(bearer) ? req.getHeader('x-api-key') : '';
    return new Connected(bearer, apiKey, readNetwork, res, req);
  };
}

class Connected implements Visitor {
  readonly bearer: string;
  readonly apiKey: string;
  readonly #readNetwork: ReadNetwork;
  readonly #res: HttpResponse;
  readonly #req: HttpRequest;
  #network: string | null = null;

  constructor(bearer: string, apiKey: string, readNetwork: ReadNetwork, res: HttpResponse, req: HttpRequest) {
    this.bearer = bearer;
    this.apiKey = apiKey;
    this.#readNetwork = readNetwork;
    this.#res = res;
    this.#req = req;
  }

  get network(): string {
    this.#network ??= this.#readNetwork(this.#res, this.#req);
    return this.#network;
  }
}

/** `bytes` contains one byte of the address per character. */
function peerOf(bytes: string): Address {
  return plain(ipaddr.fromByteArray([...Buffer.from(bytes, 'latin1')]));
}

/** Parses a CIDR such as `10.0.0.0/8`, or a single address. */
function readSubnet(text: string): Subnet {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.toByteArray().length * 8];
}

/** Joins all X-Forwarded-For headers, because a proxy may append its own after the client's. */
function forwardedFor(req: HttpRequest): string {
  const values: string[] = [];
  req.forEach((name, value) => {
    if (name === 'x-forwarded-for') values.push(value);
  });
  return values.join(',');
}

/** Walks the entries from the right and returns the first untrusted address; stops at an unreadable entry. */
export function clientOf(peer: Address, trusted: readonly Subnet[], forwarded: () => string): Address {
  const isTrusted = (address: Address) =>
    trusted.some((subnet) => subnet[0].kind() === address.kind() && address.match(subnet));
  let client = peer;
  if (!isTrusted(client)) return client;
  for (const text of forwarded().split(',').reverse()) {
    const next = readAddress(text);
    if (next === null) return client;
    client = next;
    if (!isTrusted(client)) return client;
  }
  return client;
}

/** Parses the forms that proxies write: `1.2.3.4`, `1.2.3.4:567`, `2001:db8::1`, `[2001:db8::1]:567`. */
function readAddress(text: string): Address | null {
  const [, bracketed, bare] = /^\s*(?:\[([^\]]+)\](?::\d+)?|([^\s]+?))\s*$/.exec(text) ?? [];
  const address = bracketed ?? (bare ?? '').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  return ipaddr.IPv6.isValid(address) ? plain(ipaddr.IPv6.parse(address)) : null;
}

/** Converts `::ffff:1.2.3.4` to 1.2.3.4. */
function plain(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

export function networkOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${Buffer.from(address.toByteArray().slice(0, IPV6_PREFIX_BYTES)).toString('hex')}${OF_IPV6}`;
}

/** Returns the /48 of an IPv6 network, because one customer may own all its 65,536 networks; null for an IPv4 address. */
export function allocationOf(network: string): string | null {
  return network.endsWith(OF_IPV6) ? `${network.slice(0, 2 * ALLOCATION_BYTES)}/48` : null;
}

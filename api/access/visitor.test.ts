import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { newSession } from './tokens.ts';
import { clientOf, createReadVisitor, networkOf } from './visitor.ts';

const PROXIES = ['10.0.0.0/8', '2001:db8:aaaa::/48'].map((cidr) => ipaddr.parseCIDR(cidr));
const callerOf = (peer: string, forwarded: string) =>
  networkOf(clientOf(ipaddr.process(peer), PROXIES, () => forwarded));

describe('the charged network', () => {
  it.each([
    ['the header of an untrusted peer is ignored', '198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['the proxy names the client', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['entries that the client wrote itself are further left', '10.1.2.3', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['through two proxies', '10.1.2.3', '203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['proxies alone', '10.1.2.3', '10.9.9.9', '10.9.9.9'],
    ['no header', '10.1.2.3', '', '10.1.2.3'],
    ['an entry that is not an address', '10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
    ['an octal or short form', '10.1.2.3', '0313.0.113.9', '10.1.2.3'],
    ['a port', '10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
    ['brackets and a port', '10.1.2.3', '[2001:db8:1:2:3::4]:4711', '20010db800010002/64'],
    ['a mapped address', '10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
    ['a proxy of IPv6', '2001:db8:aaaa::1', '203.0.113.9', '203.0.113.9'],
  ])('%s', (_, peer, forwarded, expected) => expect(callerOf(peer, forwarded)).toBe(expected));

  it('every address of a /64 is one caller, the next /64 is another', () => {
    const networks = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:3::1'].map((address) =>
      callerOf(address, ''),
    );
    expect(networks[0]).toBe(networks[1]);
    expect(networks[2]).not.toBe(networks[0]);
  });
});

describe('credentials of a visitor', () => {
  let looked = 0;
  const res = {
    getRemoteAddress() {
      looked += 1;
      return Uint8Array.of(192, 0, 2, 1).buffer;
    },
  } as unknown as HttpResponse;
  const visitorWith = (headers: Record<string, string>) =>
    createReadVisitor([])(res, { getHeader: (name: string) => headers[name] ?? '' } as unknown as HttpRequest);
  const session = newSession();

  it.each([
    ['nothing', {}, '', ''],
    ['a bearer', { authorization: 'bEARER  vst_a' }, 'vst_a', ''],
    ['a key in its own header', { 'x-api-key': 'vst_b' }, '', 'vst_b'],
    ['credentials of another scheme', { authorization: 'Basic dTpw', 'x-api-key': 'vst_b' }, '', 'vst_b'],
    ['a bearer and a key: the bearer', { authorization: 'Bearer vst_a', 'x-api-key': 'vst_b' }, 'vst_a', ''],
    ['a session and a key: both', { authorization: `Bearer ${session}`, 'x-api-key': 'vst_b' }, session, 'vst_b'],
  ])('%s', (_, headers, bearer, apiKey) => expect(visitorWith(headers)).toMatchObject({ bearer, apiKey }));

  it('the network is computed on first use, once', () => {
    looked = 0;
    const visitor = visitorWith({});
    expect(looked).toBe(0);
    expect([visitor.network, visitor.network, looked]).toEqual(['192.0.2.1', '192.0.2.1', 1]);
  });

  it.each([
    ['without trusted proxies', []],
    ['with every proxy trusted', ['0.0.0.0/0', '::/0']],
  ])('a client that has reset its connection has no address: %s', (_, trustedProxies) => {
    const reset = { getRemoteAddress: () => new ArrayBuffer(0) } as unknown as HttpResponse;
    const req = {
      getHeader: () => '',
      forEach: (each: (name: string, value: string) => void) => each('x-forwarded-for', '203.0.113.9'),
    } as unknown as HttpRequest;
    expect(createReadVisitor(trustedProxies)(reset, req).network).toBe('gone');
  });
});

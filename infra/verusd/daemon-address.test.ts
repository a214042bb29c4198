import { describe, expect, it } from 'vitest';
import { parseDaemonAddress } from './daemon-address.ts';

const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;

describe('parseDaemonAddress', () => {
  it('splits origin and credentials', () => {
    expect(parseDaemonAddress('http://user:pass@127.0.0.1:27486')).toEqual({
      origin: 'http://127.0.0.1:27486',
      authorization: basic('user:pass'),
    });
    expect(parseDaemonAddress('http://[::1]:27486/')).toEqual({ origin: 'http://[::1]:27486', authorization: null });
  });

  it('accepts escaped and bare special characters in a password', () => {
    expect(parseDaemonAddress('http://u:p%40%3Aß@h:1').authorization).toBe(basic('u:p@:ß'));
    expect(parseDaemonAddress('http://u:50%off@h:1').authorization).toBe(basic('u:50%off'));
  });

  it.each([
    'nonsense s3cret',
    'ftp://u:s3cret@h:1',
    'http://u:s3cret@h:1/wallet',
    'http://u:s3cret@h:99999',
    'http://u:s3cret@h:1/?a=b',
  ])('refuses %s without repeating the password', (rpc) => {
    const refused = expect.objectContaining({
      code: 'daemon_address_invalid',
      message: expect.not.stringContaining('s3cret'),
    });
    expect(() => parseDaemonAddress(rpc)).toThrow(refused);
  });
});

/** A challenge names only configured hosts, however a request spells its host. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../infra/config/load-config.ts';
import type { ApiError } from '../http/api-error.ts';
import { createPublicHosts } from './public-hosts.ts';

type Hosts = Parameters<typeof createPublicHosts>[0];

function said(config: Hosts, asked: string, port = 8080): string {
  try {
    createPublicHosts(config, () => port).require(asked.toLowerCase()); // as the code that reads requests does
    return 'allowed';
  } catch (error) {
    return (error as ApiError).code;
  }
}

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const host = fc
  .tuple(name, fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }))
  .map(([text, port]) => (port === undefined ? text : `${text}:${port}`));
const inAnyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((letter, index) => (upper[index] ? letter.toUpperCase() : letter)).join(''));

/** Other hosts that resemble the given one, or that a lenient parser would accept as the same. */
const disguises: readonly ((host: string) => string)[] = [
  (text) => `${text}.`,
  (text) => `${text}.evil.example`,
  (text) => `evil-${text}`,
  (text) => `evil.${text}`,
  (text) => `${text}:`,
  (text) => `${text}:0443`,
  (text) => `${text}@evil.example`,
  (text) => `evil.example@${text}`,
  (text) => `${text}, evil.example`,
  (text) => `${text} `,
  (text) => `${text}\u0000`,
  (text) => `${text}/`,
  (text) => `http://${text}`,
  (text) => `[${text}]`,
  (text) => text.replace('.', '。'),
  (text) => text.slice(1),
  () => '',
];

describe('configured hosts', () => {
  it('are the only hosts that may be named, in upper or lower case', () => {
    fc.assert(
      fc.property(fc.uniqueArray(host, { minLength: 1, maxLength: 4 }), host, fc.gen(), (publicHosts, other, gen) => {
        const config = { publicHosts: publicHosts.map((text) => gen(() => inAnyCase(text))), host: '127.0.0.1' };
        for (const text of publicHosts) {
          expect(
            said(
              config,
              gen(() => inAnyCase(text)),
            ),
          ).toBe('allowed');
          for (const disguise of disguises) {
            const disguised = disguise(text);
            if (!publicHosts.includes(disguised)) expect(said(config, disguised), disguised).toBe('host_refused');
          }
        }
        expect(said(config, other)).toBe(publicHosts.includes(other) ? 'allowed' : 'host_refused');
        expect(said(config, 'localhost:8080')).toBe('host_refused');
      }),
    );
  });

  it('are listed in the refusal of another name', () => {
    const hosts = createPublicHosts({ publicHosts: ['API.example'], host: '10.1.2.3' }, () => 8080);
    expect(() => hosts.require('evil.example')).toThrow(/only at api\.example$/);
  });

  it('are read from the environment, and only in the form of a Host header', () => {
    fc.assert(
      fc.property(fc.uniqueArray(host, { minLength: 1, maxLength: 4 }), (hosts) => {
        expect(loadConfig({ PUBLIC_HOSTS: hosts.join(', ') }).publicHosts).toEqual(hosts);
      }),
    );
    for (const wrong of [
      'https://a.example',
      'a.example/',
      '*.example',
      'a b',
      'a.example:',
      'a.example:0',
      'bücher.example',
      '::1',
      '',
    ]) {
      if (wrong !== '') expect(() => loadConfig({ PUBLIC_HOSTS: wrong }), wrong).toThrow(/PUBLIC_HOSTS/);
      else expect(loadConfig({ PUBLIC_HOSTS: wrong }).publicHosts).toBeNull();
    }
    expect(loadConfig({ PUBLIC_HOSTS: '[2001:db8::1]:8080' }).publicHosts).toEqual(['[2001:db8::1]:8080']);
  });
});

describe('without configured hosts', () => {
  it.each(['127.0.0.1:8080', 'localhost:8080', 'LOCALHOST:8080', '[::1]:8080', '10.1.2.3:8080'])(
    '%s is this machine',
    (asked) => {
      expect(said({ publicHosts: null, host: '10.1.2.3' }, asked)).toBe('allowed');
    },
  );

  it('the port must be that of the service, and may be omitted if it is 80', () => {
    const config = { publicHosts: null, host: '::' };
    expect(['localhost', 'localhost:80', '[::]'].map((asked) => said(config, asked, 80))).toEqual(
      Array(3).fill('allowed'),
    );
    expect(['localhost', 'localhost:80', 'localhost:8081'].map((asked) => said(config, asked))).toEqual(
      Array(3).fill('host_refused'),
    );
  });

  it('no other host is allowed, and a refusal names no host of this machine', () => {
    fc.assert(
      fc.property(host, (asked) => {
        const isOwn = ['10.1.2.3:8080', 'localhost:8080', '127.0.0.1:8080'].includes(asked);
        expect(said({ publicHosts: null, host: '10.1.2.3' }, asked)).toBe(isOwn ? 'allowed' : 'host_refused');
      }),
    );
    const hosts = createPublicHosts({ publicHosts: null, host: '10.1.2.3' }, () => 8080);
    expect(() => hosts.require('evil.example')).toThrow(/addresses of the machine itself/);
    expect(() => hosts.require('evil.example')).not.toThrow(/10\.1\.2\.3|8080/);
  });
});

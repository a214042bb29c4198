/** Resolves names of receivers by asking the name servers: the system's own look-up blocks one of four threads while a server is silent. */
import { lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { Resolve } from './receiver-address.ts';

const TRY_MS = 1_500;
const TRIES = 2;

/** @param servers name servers instead of the system's, for tests */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  return (hostname, _options, done) => {
    const asked = [
      resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 }))),
      resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 }))),
    ];
    Promise.allSettled(asked).then((answers) => {
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const failed = answers.find((answer) => answer.status === 'rejected');
      done(found.length === 0 ? (failed?.reason ?? null) : null, found);
    });
  };
}

/** Resolves like the system, including its hosts file, which names local services. */
export const resolveBySystem: Resolve = (hostname, options, done) =>
  lookup(hostname, options, (error, found) => done(error, error ? [] : found)); // a failed look-up has no list

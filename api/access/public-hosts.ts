/** Host names that login challenges may contain: the signer of a challenge trusts the host in its message. */
import type { Config } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';

/** Checks whether a challenge may contain a given value of the Host header (in lower case). */
export interface PublicHosts {
  /** @throws ApiError host_refused */
  require(host: string): void;
}

/** Clients omit the default port. */
const HTTP_PORT = 80;
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Each entry is a host as clients write it and must match exactly. Without entries, the addresses of this machine at the port match. */
export function createPublicHosts(
  { publicHosts, host }: Pick<Config, 'publicHosts' | 'host'>,
  port: () => number,
): PublicHosts {
  const named = publicHosts && new Set(publicHosts.map((name) => name.toLowerCase()));
  const bound = (host.includes(':') ? `[${host}]` : host).toLowerCase();

  function isOfThisMachine(asked: string): boolean {
    const names = [bound, ...LOCAL_NAMES];
    return names.some((name) => asked === `${name}:${port()}` || (port() === HTTP_PORT && asked === name));
  }

  return {
    require(asked) {
      if (named ? named.has(asked) : isOfThisMachine(asked)) return;
      const allowed = named
        ? `only at ${[...named].join(', ')}`
        : 'only at the addresses of the machine itself, because PUBLIC_HOSTS names no other hosts';
      throw new ApiError('host_refused', `the service takes no logins under the host name of this request, ${allowed}`);
    },
  };
}

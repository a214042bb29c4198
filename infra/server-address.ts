/** Addresses of servers hold passwords: they are read here, so that no error repeats one as that of new URL() does. */

/** For Postgres: by a socket whose folder is a parameter, or on this machine. */
const WITHOUT_HOST = /^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/)/;
const STAND_IN = 'localhost';

/** Null for what is no address of one server. Behind a bare / ? or # in a password, its rest and the @ would be read as a path. */
export function readServerAddress(address: string): URL | null {
  const whole = address.replace(WITHOUT_HOST, `$1${STAND_IN}`);
  if (!URL.canParse(whole)) return null;
  const url = new URL(whole);
  const { hostname, pathname, search, hash } = url;
  return hostname.includes(',') || `${pathname}${search}${hash}`.includes('@') ? null : url;
}

/** Host, port and database of a Postgres, for people. */
export function placeOfPostgres(address: string): string {
  const url = readServerAddress(address);
  if (!url) return 'an address that cannot be read';
  const host = url.searchParams.get('host') ?? decodePart(url.hostname);
  return `${host}:${url.port || 5432}${url.pathname}`;
}

/** The same server, and another database. */
export function withDatabase(address: string, database: string): string {
  const url = readServerAddress(address);
  if (!url) throw new TypeError('The address of the store cannot be read');
  url.pathname = `/${database}`;
  return WITHOUT_HOST.test(address) ? url.href.replace(`@${STAND_IN}/`, '@/') : url.href;
}

/** A bare % is used literally. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Parses addresses of servers. They contain passwords, so no error may repeat an address, as the error of new URL() does. */

/** A Postgres address without a host: on this machine, or by a socket whose folder is a parameter. */
const WITHOUT_HOST = /^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/)/;
const STAND_IN = 'localhost';

/** Returns null unless the text is the address of one server. After a bare / ? or # in a password, the rest with its @ parses as a path. */
export function readServerAddress(address: string): URL | null {
  const whole = address.replace(WITHOUT_HOST, `$1${STAND_IN}`);
  if (!URL.canParse(whole)) return null;
  const url = new URL(whole);
  const { hostname, pathname, search, hash } = url;
  return hostname.includes(',') || `${pathname}${search}${hash}`.includes('@') ? null : url;
}

/** Returns host, port and database of a Postgres address, for messages. */
export function placeOfPostgres(address: string): string {
  const url = readServerAddress(address);
  if (!url) return 'an address that cannot be read';
  const host = url.searchParams.get('host') ?? decodePart(url.hostname);
  return `${host}:${url.port || 5432}${url.pathname}`;
}

/** Returns the address of another database on the same server. */
export function withDatabase(address: string, database: string): string {
  const url = readServerAddress(address);
  if (!url) throw new TypeError('The address of the store cannot be read');
  url.pathname = `/${database}`;
  return WITHOUT_HOST.test(address) ? url.href.replace(`@${STAND_IN}/`, '@/') : url.href;
}

/** Decodes percent-encoding; a part with a bare % is used literally. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** JSON-RPC to the service or to your own daemon. Numbers keep their digits: numbers with a fraction are never doubles. */
import { relative } from 'node:path';
import { LosslessNumber, parse, stringify } from 'lossless-json';

export type Rpc = <Result>(method: string, ...params: unknown[]) => Promise<Result>;

/** An error of the daemon, with its code. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(`${message} (${code})`);
    this.code = code;
  }
}

/** An answer that is not JSON: refused credentials, or the answer of a proxy. */
class HttpError extends Error {
  readonly status: number;
  constructor(status: number, method: string) {
    super(`${method}: HTTP ${status} without an answer`);
    this.status = status;
  }
}

/** Whether the error is temporary: the daemon is busy or starting, a limit is reached, the connection broke. */
export function passes(error: unknown): boolean {
  if (error instanceof RpcError) return [-32603, -32005, -28].includes(error.code);
  if (error instanceof HttpError) return error.status === 429 || error.status >= 500;
  // fetch rejects with a TypeError that has a cause, or with the reason of its signal.
  return (error instanceof TypeError && error.cause !== undefined) || (error as Error).name === 'TimeoutError';
}

const parseNumber = (text: string) =>
  /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : new LosslessNumber(text);

export const readJson = (text: string): unknown => parse(text, undefined, parseNumber);
export const printJson = (value: unknown): string => stringify(value) ?? 'null';

/** Takes `http://user:password@127.0.0.1:27486` for a daemon; the service needs no credentials. */
export function connect(address: string): Rpc {
  const url = new URL(address);
  const login = Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`);
  const headers = url.username === '' ? {} : { authorization: `Basic ${login.toString('base64')}` };
  url.username = '';
  url.password = '';
  return async <Result>(method: string, ...params: unknown[]) => {
    const body = printJson({ id: 1, method, params });
    const response = await fetch(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(60_000) });
    const text = await response.text();
    // The daemon sends its errors as JSON with HTTP 404 or 500; answers with 401, and those of proxies, are not JSON.
    if (!text.startsWith('{')) throw new HttpError(response.status, method);
    const { result, error } = readJson(text) as { result: unknown; error: { code: number; message: string } | null };
    if (error) throw new RpcError(error.code, `${method}: ${error.message}`);
    return result as Result;
  };
}

/** Converts coins, as the daemon prints them, to satoshis. */
export function toSatoshis(coins: unknown): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,8}))?$/.exec(String(coins)) ?? [];
  if (sign === undefined) throw new Error(`${String(coins)} is no amount: digits, with at most 8 decimals`);
  return BigInt(`${sign}${whole}${fraction.padEnd(8, '0')}`);
}

export function toCoins(satoshis: bigint): string {
  const digits = String(satoshis).padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

/** Parses a whole number of the command line. */
export function wholeNumber(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} must be a whole number, not ${text}`);
  return Number(text);
}

type ArgumentsOf<Names extends readonly string[]> = {
  [Index in keyof Names]: Names[Index] extends `[${string}` ? string | undefined : string;
};

/**
 * Returns the arguments of the command line; names in brackets are those of optional ones. If one is missing, or there are too many, it prints
 * the usage and ends the program with exit code 2.
 */
export function readArguments<const Names extends readonly string[]>(...names: Names): ArgumentsOf<Names> {
  const [, program = '', ...given] = process.argv;
  const least = names.filter((name) => !name.startsWith('[')).length;
  if (given.length >= least && given.length <= names.length) return given as unknown as ArgumentsOf<Names>;
  return fail(`usage: node ${relative('.', program)} ${names.join(' ')}`);
}

/** Returns the URL of your own daemon; without one, it ends the program with exit code 2. */
export const walletUrl = (): string =>
  process.env.WALLET_URL || fail('WALLET_URL is missing: the address of your own daemon, with its user and password');

function fail(problem: string): never {
  console.error(problem);
  process.exit(2);
}

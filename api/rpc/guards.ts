/** What must not reach a daemon that strangers may call. A guard throws RpcError, or lets the call through. */
import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { rawStrings } from '../../schemas/raw-json.ts';
import { RPC_CODES, type RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import { methodNotFound, RpcError } from './rpc-error.ts';

export interface GuardedChain {
  readonly rootCurrency: string;
  readonly blockSeconds: number;
  /** Of the newest block; Infinity while it is not known. */
  height(): number;
  /** i-address of the chain's own currency, as its daemon names it. */
  chainId(): Promise<string>;
}

export interface Guard {
  /** What it refuses, for people. */
  readonly refuses: string;
  /** Parameters that it must refuse: the tests send them and see that nothing reaches the daemon. */
  readonly refused: readonly string[];
  readonly check: (request: RpcRequest, chain: GuardedChain) => void | Promise<void>;
}

const IDENTITY_VERSION = 102;
const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/** Without the flag these methods spend or write with the node's keys, so for the public they do not exist. */
export function onlyWithReturntx(position: number): Guard {
  const before = Array.from({ length: position }, () => '{}');
  return {
    refuses: `unless parameter ${position + 1} is true`,
    refused: ['[]', ...['false', '1', '"true"', 'null', '[true]'].map((flag) => `[${[...before, flag].join()}]`)],
    check({ texts }) {
      if (texts[position] !== 'true') throw methodNotFound();
    },
  };
}

/** A member `filename`, at any depth, makes the daemon read that file of its own disk. Holds for every method. */
export const filenameGuard: Guard = {
  refuses: 'a member `filename`',
  refused: ['[{"filename":"/etc/passwd"}]', '[{},[{"a":{"\\u0066ilename" : 1}}]]'],
  check({ params }) {
    if (!params.includes('{')) return; // no object, no member
    for (const { value, isKey } of rawStrings(params)) {
      if (isKey && value === 'filename') {
        throw new RpcError(RPC_CODES.invalidParameter, 'filename is not served: it would be read on the server');
      }
    }
  },
};

const SHIELDED = /^z[0-9a-z]{60,}$/i;

/** Balances of shielded addresses are known to nobody but the node's wallet. */
export const addressGuard: Guard = {
  refuses: 'z-addresses',
  refused: ['["alice@:private"]', `["zs1${'q'.repeat(75)}"]`, `[{"address":"zs1${'q'.repeat(75)}"}]`],
  check({ params }) {
    for (const { value, isKey } of rawStrings(params)) {
      if (!isKey && (SHIELDED.test(value) || value.endsWith(':private'))) {
        throw new RpcError(RPC_CODES.invalidAddressOrKey, 'Balances of z-addresses are not served');
      }
    }
  },
};

const unknownCurrency = () => new RpcError(RPC_CODES.invalidParameter, 'Invalid chain name or chain ID');

/** Both byte orders of 20 bytes as i-addresses; none for other hex, of which the daemon reads what it can. */
function hexIds(hex: string): string[] {
  if (!/^[0-9a-fA-F]{40}$/.test(hex)) return [];
  const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
  return [bytes, bytes.toReversed()].map((id) => base58check.encode(Uint8Array.of(IDENTITY_VERSION, ...id)));
}

const LIKE_AN_ADDRESS = /^\s*i[1-9A-HJ-NP-Za-km-z]{20,}\s*$/;
const labels = (name: string) => name.trim().toLowerCase().split('.');

/** Asked for the chain's own currency, the method ends the daemon; so does whatever may be another spelling of it. */
export function deadlyForNativeCurrency(position: number): Guard {
  async function check({ texts }: RpcRequest, chain: GuardedChain): Promise<void> {
    const text = texts[position];
    if (!text?.startsWith('"')) return;
    const name = String(JSON.parse(text));
    const [first] = labels(name.replace(/@$/, ''));
    if (first === labels(chain.rootCurrency)[0]) throw unknownCurrency();
    const hex = /^\s*hex:(.*)$/is.exec(name)?.[1];
    if (hex === undefined && !LIKE_AN_ADDRESS.test(name)) return;
    const ids = hex === undefined ? [name.trim()] : hexIds(hex);
    if (ids.length === 0 || ids.includes(await chain.chainId())) throw unknownCurrency();
  }
  return { refuses: "the chain's own currency, which ends the daemon", refused: ['["hex:"]', '["hex:0"]'], check };
}

const MOST_BLOCKS = 50_000;
const MOST_POINTS = 2000;
const MOST_VERIFIED = 2000;

const tooMuch = (most: number) => new RpcError(RPC_CODES.invalidParameter, `More than ${most} blocks in one call`);

/** As the daemon reads a number: what follows the digits does not count. */
const leadingInteger = (text: string | undefined) => Number.parseInt(text ?? '', 10);

/** "m,n" and "m,n,o": one answer for each height from m to n, every o-th. */
export function mostPoints(position: number): Guard {
  return {
    refuses: `more than ${MOST_POINTS} heights`,
    refused: [`[${'"x",'.repeat(position)}"0,${MOST_POINTS}"]`, `[${'"x",'.repeat(position)}" 1, 99999999,10"]`],
    check({ texts }, chain) {
      const text = texts[position];
      if (!text?.startsWith('"')) return;
      const [first, last, step] = String(JSON.parse(text)).split(',').map(leadingInteger);
      if (first === undefined || last === undefined) return;
      const span = Math.min(last, chain.height()) - Math.max(first, 0);
      if (span / Math.max(1, step || 1) >= MOST_POINTS) throw tooMuch(MOST_POINTS);
    },
  };
}

/** Hashes of all blocks between two times, of which there are no more than the chain is high. */
export const mostBlocksBetweenTimes: Guard = {
  refuses: `more than ${MOST_BLOCKS} blocks`,
  refused: ['[2000000000,0]', '[2000000000,1500000000,{"noOrphans":true}]'],
  check({ texts: [high, low] }, chain) {
    const blocks = (Number(high) - Number(low)) / chain.blockSeconds;
    if (Math.min(blocks, chain.height()) > MOST_BLOCKS) throw tooMuch(MOST_BLOCKS);
  },
};

/** None or less means the whole chain to the daemon. */
export const mostBlocksToVerify: Guard = {
  refuses: `more than ${MOST_VERIFIED} blocks`,
  refused: ['[1,0]', '[1,-1]', `[4,${MOST_VERIFIED + 1}]`],
  check({ texts: [, blocks] }, chain) {
    const asked = blocks === undefined ? 1 : Number(blocks);
    if (Math.min(asked < 1 ? Number.POSITIVE_INFINITY : asked, chain.height()) > MOST_VERIFIED) {
      throw tooMuch(MOST_VERIFIED);
    }
  },
};

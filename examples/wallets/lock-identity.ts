/**
 * Locks an identity against spending, or starts its unlock. Like update-identity.ts, it leaves the keys in your own wallet. `delay N`: locked
 * until an unlock is requested and N more blocks have passed. `until HEIGHT`: locked up to that block; an identity that is locked with a
 * delay is unlocked as soon as the delay allows.
 *
 *   WALLET_URL=http://user:password@127.0.0.1:27486 node examples/wallets/lock-identity.ts SERVICE NAME@ delay|until BLOCKS
 *
 * MOST_FEE: in coins, 0.01. DROP_MAP=yes: continue although the newest state will have no contentmultimap
 */
import { connect, readArguments, walletUrl, wholeNumber } from './rpc.ts';
import { check, signAndSend, type Wanted } from './sign-at-home.ts';

const LOCKED = 2;
const LONGEST_DELAY = 11_563_200;

const [address, identity, kind, number] = readArguments('SERVICE', 'NAME@', 'delay|until', 'BLOCKS');
const service = connect(address);
const wallet = connect(walletUrl());
const blocks = wholeNumber(number, 'BLOCKS');
if (kind !== 'delay' && kind !== 'until') throw new Error(`delay or until, not ${kind}`);
if (kind === 'delay' && (blocks < 1 || blocks > LONGEST_DELAY))
  throw new Error(`a delay is 1 to ${LONGEST_DELAY} blocks`);

const wanted: Wanted = {
  changes(known, { expiryheight }) {
    const flags = Number(known.flags);
    const hasMap = Object.keys(known.contentmultimap ?? {}).length > 0;
    if (hasMap && process.env.DROP_MAP !== 'yes')
      throw new Error(
        'the newest state would lose its contentmultimap: keep what merge-multimap prints, then set DROP_MAP=yes',
      );
    if (kind === 'delay') return { flags: flags | LOCKED, timelock: blocks };
    // The delay counts from the last block that may contain the transaction.
    const unlocked = Number(known.timelock) + expiryheight;
    if (flags & LOCKED) return { flags: flags & ~LOCKED, timelock: Math.max(blocks, unlocked) };
    if (blocks <= expiryheight) throw new Error(`the lock must reach beyond block ${expiryheight}`);
    return { timelock: blocks };
  },
  map(stored) {
    if (stored.size > 0) throw new Error('a lock carries no contentmultimap');
  },
};

const request = kind === 'delay' ? { setunlockdelay: blocks } : { unlockatblock: blocks };
const unsigned = await service<string>('setidentitytimelock', identity, request, true);
const made = (await check(wallet, identity, unsigned, wanted)).vout[0]?.scriptPubKey.identityprimary;
const txid = await signAndSend({ service, wallet }, unsigned, process.env.MOST_FEE ?? '0.01');
const timelock = Number(made?.timelock);
console.log(
  `sent ${txid}: ${kind === 'delay' ? `locked, with a delay of ${timelock}` : `free to spend from block ${timelock + 1}`}`,
);

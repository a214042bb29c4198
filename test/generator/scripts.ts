/** scriptPubKey objects, kind by kind. */
import { addressBehind, indexAddress, type KeyAddress, keyAddress } from './addresses.ts';
import type { Tokens } from './coins.ts';
import { amounts, coins, filler, text, texts } from './print.ts';

export interface Script {
  /** JSON */
  readonly text: string;
  /** The address that the daemon shows on an input that spends the output. */
  readonly spender: string;
}

/** Protocol addresses that control outputs pay. */
const CONTROL_ADDRESSES = {
  currencydefinition: 'RP7id3CzCnwvzNUZesYJM6ekvsxpEzMqB1',
  crosschainimport: 'RKLN7wFhbrJFkPG8XkKteErAe5CjqoddTm',
  crosschainexport: 'RGkrs7SndcpsV61oKK2jYdMiU8PgkLU2qP',
  acceptednotarization: 'RDTq9qn1Lthv7fvsdbWz36mGp8HK9XaruZ',
  finalizeexport: 'REL7oLNeaeoQB1XauiHfcvjKMZC52Uj5xF',
  reservedeposit: 'RFw9AVfgNKcHe2Vp2eyzHrX65aFD9Ky8df',
  reservetransfer: 'RTqQe58LSj2yr5CrwYFwcsAQ1edQwmrkUU',
  feepool: 'RQ55dLQ7uGnLx8scXfkaFV6QS6qVBGyxAG',
} as const;
const STAKE_GUARD = 'RCG8KwJNDVwpUBcdoa6AoHqHVJsA1uMYMR';

export type ControlKind = keyof typeof CONTROL_ADDRESSES;

export function payKey({ address, hash }: KeyAddress): Script {
  return {
    text:
      `{"type":"pubkeyhash","spendableoutput":true,"reqSigs":1,"addresses":["${address}"],` +
      `"asm":"OP_DUP OP_HASH160 ${hash} OP_EQUALVERIFY OP_CHECKSIG","hex":"76a914${hash}88ac"}`,
    spender: address,
  };
}

export function payScript({ address, hash }: KeyAddress): Script {
  return {
    text:
      `{"type":"scripthash","spendableoutput":true,"reqSigs":1,"addresses":["${address}"],` +
      `"asm":"OP_HASH160 ${hash} OP_EQUAL","hex":"a914${hash}87"}`,
    spender: address,
  };
}

/** Data, which cannot be spent. */
export function nullData(hex: string): Script {
  return {
    text: `{"type":"nulldata","spendableoutput":false,"asm":"OP_RETURN ${hex}","hex":"6a${hex}"}`,
    spender: '',
  };
}

/** Only native coins, to an identity or to several destinations at once. */
export function payComplex(addresses: readonly string[]): Script {
  return cryptocondition('"evalnone":"valid"', { addresses, spendable: true });
}

/** Coins to any address: a key's, a script's, an identity's. */
export function payTo(address: string): Script {
  const key = addressBehind(address);
  if (!key) return payComplex([address]);
  return address.startsWith('b') ? payScript(key) : payKey(key);
}

/** Tokens (and coins) to any addresses; `nameOf` returns leaf names. */
export function payTokens(addresses: readonly string[], tokens: Tokens, nameOf: (id: string) => string): Script {
  const decoded = `"reserveoutput":{"version":1,"currencyvalues":${amounts(tokens)}}`;
  return cryptocondition(decoded, { addresses, spendable: true, tokens, nameOf });
}

/** Reward of a stake block, locked for its owner. */
export function stakeGuard(owner: KeyAddress): Script {
  return cryptocondition('"stakeguard":""', { addresses: [owner.address, STAKE_GUARD], spendable: true });
}

/** An output about an identity: its state, its reservation or its commitment. */
export function identityScript(kind: string, object: string, addresses: readonly string[]): Script {
  return cryptocondition(`"${kind}":${object}`, { addresses, spendable: false });
}

/** An output of the protocol. `thread`, a currency, identifies its owner when it is spent. */
export function controlScript(
  kind: ControlKind,
  object: string,
  thread: string,
  held?: { readonly tokens: Tokens; readonly nameOf: (id: string) => string },
): Script {
  const addresses = [CONTROL_ADDRESSES[kind]];
  const script = cryptocondition(`"${kind}":${object}`, { addresses, spendable: false, ...held });
  return { ...script, spender: indexAddress(`${kind} ${thread}`) };
}

interface Condition {
  readonly addresses: readonly string[];
  readonly spendable: boolean;
  readonly tokens?: Tokens;
  readonly nameOf?: (id: string) => string;
}

/** The serialised object is about a quarter as long as its JSON. */
const JSON_PER_BYTE = 4;

function cryptocondition(decoded: string, { addresses, spendable, tokens, nameOf }: Condition): Script {
  const head = `1a0403000101${keyAddress(decoded.length).hash}`;
  const body = filler(head, 24 + Math.ceil(decoded.length / JSON_PER_BYTE));
  const held = Array.from(tokens ?? [], ([id, amount]) => `${text(nameOf?.(id) ?? id)}:${coins(amount)}`);
  const balance = held.length > 0 ? `"reserve_balance":{${held.join(',')}},` : '';
  return {
    text:
      `{"type":"cryptocondition",${decoded},"spendableoutput":${spendable},${balance}"reqSigs":1,` +
      `"addresses":${texts(addresses)},"asm":"${head} OP_CHECKCRYPTOCONDITION ${body} OP_DROP",` +
      `"hex":"${head}cc${body}75"}`,
    spender: addresses[0] ?? '',
  };
}

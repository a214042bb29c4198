/** Transactions of a made-up chain: their inputs and outputs, and their text. */
import { createHash } from 'node:crypto';
import type { Coin, Tokens } from './coins.ts';
import { NO_TOKENS } from './coins.ts';
import { coins, list } from './print.ts';
import type { Script } from './scripts.ts';
import type { World } from './world.ts';

export interface Transaction {
  readonly txid: string;
  readonly text: string;
  readonly inputs: readonly Coin[];
  readonly outputs: readonly Coin[];
  /** Native coins of the inputs minus those of the outputs. */
  readonly fee: bigint;
  readonly expiryHeight: number;
  /** Whether the chain in its current state accepts it, given that its inputs are unspent. */
  readonly fits: () => boolean;
  /** Applies its effects other than those on coins. */
  readonly apply: () => void;
}

export interface Draft {
  readonly txid: string;
  spend(coin: Coin): void;
  /** An output that wallets can spend; it is in the purse of one of its tokens. */
  pay(value: bigint, script: Script, tokens?: Tokens): Coin;
  /** An output that only the protocol spends. */
  hold(value: bigint, script: Script, tokens?: Tokens): Coin;
  /** An output that is never spent. */
  burn(value: bigint, script: Script): void;
  /** `valueBalance`: native coins that leave the shielded pool, or enter it when negative. `parts`: JSON of the shielded parts. */
  shield(valueBalance: bigint, parts: string): void;
  /** Native coins of the inputs that no output has yet. */
  left(): bigint;
  /** The same for tokens. */
  tokensLeft(): Map<string, bigint>;
  /** Number of outputs so far. */
  readonly size: number;
  finish(more?: Partial<DraftEnd>): Transaction;
}

interface DraftEnd extends Pick<Transaction, 'expiryHeight' | 'fits' | 'apply'> {
  readonly lockTime: number;
}

const NOTHING_SHIELDED = '"vShieldedSpend":[],"vShieldedOutput":[]';
const always = () => true;
const nothing = () => undefined;

export function openDraft(world: World): Draft {
  const txid = sha256(`${world.seed} transaction ${world.nextNumber()}`);
  const inputs: Coin[] = [];
  const inputTexts: string[] = [];
  const outputs: Coin[] = [];
  const outputTexts: string[] = [];
  const tokensLeft = new Map<string, bigint>();
  let left = 0n;
  let balance = 0n;
  let shielded = NOTHING_SHIELDED;

  function output(value: bigint, script: Script, tokens: Tokens, purse: Coin['purse']): Coin {
    const n = outputTexts.length;
    outputTexts.push(
      `{"value":${coins(value)},"valueZat":${value},"valueSat":${value},"n":${n},"scriptPubKey":${script.text}}`,
    );
    left -= value;
    for (const [id, amount] of tokens) tokensLeft.set(id, (tokensLeft.get(id) ?? 0n) - amount);
    return { txid, n, value, tokens, address: script.spender, purse, place: -1 };
  }

  return {
    txid,
    get size() {
      return outputTexts.length;
    },
    spend(coin) {
      const signature = `47${coin.txid}${txid}0121${coin.txid}ab`;
      inputs.push(coin);
      inputTexts.push(
        `{"txid":"${coin.txid}","vout":${coin.n},"scriptSig":{"asm":"${signature}","hex":"${signature}"},` +
          `"value":${coins(coin.value)},"valueSat":${coin.value},"address":"${coin.address}","sequence":4294967295}`,
      );
      left += coin.value;
      for (const [id, amount] of coin.tokens) tokensLeft.set(id, (tokensLeft.get(id) ?? 0n) + amount);
    },
    pay(value, script, tokens = NO_TOKENS) {
      const [currencyId = null] = tokens.keys();
      const coin = output(value, script, tokens, world.coins.purse(currencyId));
      outputs.push(coin);
      return coin;
    },
    hold(value, script, tokens = NO_TOKENS) {
      const coin = output(value, script, tokens, null);
      outputs.push(coin);
      return coin;
    },
    burn(value, script) {
      output(value, script, NO_TOKENS, null);
    },
    shield(valueBalance, parts) {
      balance = valueBalance;
      left += valueBalance;
      shielded = parts;
    },
    left: () => left,
    tokensLeft: () => new Map([...tokensLeft].filter(([, amount]) => amount > 0n)),
    finish({ expiryHeight = 0, fits = always, apply = nothing, lockTime = 0 } = {}) {
      const text =
        `{"txid":"${txid}","overwintered":true,"version":4,"versiongroupid":"892f2085","locktime":${lockTime},` +
        `"expiryheight":${expiryHeight},"vin":${list(inputTexts)},"vout":${list(outputTexts)},"vjoinsplit":[],` +
        `"valueBalance":${coins(balance)},"valueBalanceZat":${balance},${shielded}}`;
      return { txid, text, inputs, outputs, fee: left, expiryHeight, fits, apply };
    },
  };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

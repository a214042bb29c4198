/** A made-up chain of plain payments, printed as the daemon prints its blocks. One seed gives one chain. */
import { createHash } from 'node:crypto';
import { satoshisToCoins } from '../../schemas/satoshi.ts';

export interface PaymentBlock {
  readonly height: number;
  readonly hash: string;
  readonly previousHash: string | null;
  readonly time: number;
  /** `getblock hash 2` */
  readonly text: string;
}

export interface PaymentChain {
  /** The next block on the newest one. */
  next(): PaymentBlock;
  /** Back to the block at `height`, whose hash is returned; what comes next is another branch. Only with `keepsHistory`. */
  rewind(height: number): string;
  readonly height: number;
}

export interface PaymentChainOptions {
  readonly seed: number;
  readonly addresses: number;
  /** Largest number of payments a block has. */
  readonly payments: number;
  /** Whether it can be rewound: costs memory for each block. */
  readonly keepsHistory?: boolean;
}

interface Coin {
  readonly txid: string;
  readonly n: number;
  readonly value: bigint;
  readonly address: number;
}

interface Tip {
  readonly height: number;
  readonly hash: string;
  readonly time: number;
}

const GENESIS_TIME = 1_600_000_000;
const REWARD = 6_00000000n;
const FEE = 10_000n;
const MATURE_COINS = 3;

export function createPaymentChain(options: PaymentChainOptions): PaymentChain {
  const random = createRandom(options.seed);
  const history: { tip: Tip; coins: Coin[] }[] = [];
  let coins: Coin[] = [];
  let tip: Tip | null = null;
  let made = 0;

  const below = (limit: number): number => Math.floor(random() * limit);
  const someAddress = (): number => below(options.addresses);

  function takeCoin(): Coin | undefined {
    const index = below(coins.length);
    const taken = coins[index];
    const last = coins.pop();
    if (last && taken !== last) coins[index] = last;
    return taken;
  }

  function payment(id: string): string | null {
    if (coins.length < MATURE_COINS) return null;
    const inputs = Array.from({ length: 1 + below(2) }, takeCoin).filter((coin) => coin !== undefined);
    let left = inputs.reduce((sum, { value }) => sum + value, 0n) - FEE;
    if (left <= 0n) return null; // burnt: too small to pay its fee
    const outputs: Coin[] = [];
    const count = 2 + below(3);
    for (let n = 0; n < count && left > 0n; n++) {
      const value = n === count - 1 ? left : (left * BigInt(1 + below(99))) / 100n;
      if (value > 0n) outputs.push({ txid: id, n: outputs.length, value, address: someAddress() });
      left -= value;
    }
    coins.push(...outputs);
    return transactionText(id, inputs.map(inputText), outputs);
  }

  return {
    get height() {
      return tip?.height ?? -1;
    },
    next() {
      const height = (tip?.height ?? -1) + 1;
      made += 1;
      const hash = sha256(`block ${options.seed} ${made}`);
      // Now and then a block's time steps back, as miners' clocks do.
      const time = height === 0 ? GENESIS_TIME : (tip?.time ?? GENESIS_TIME) + (below(10) === 0 ? -20 : 30 + below(60));
      const transactions: string[] = [];
      const reward = { txid: sha256(`coinbase ${hash}`), n: 0, value: REWARD, address: someAddress() };
      transactions.push(
        transactionText(reward.txid, [`{"coinbase":"${hex(made, 4)}","sequence":4294967295}`], [reward]),
      );
      const payments = height === 0 ? 0 : below(options.payments + 1);
      for (let index = 0; index < payments; index++) {
        const text = payment(sha256(`payment ${hash} ${index}`));
        if (text) transactions.push(text);
      }
      const staked = height > 0 && coins.length > MATURE_COINS && below(2) === 0 ? takeCoin() : undefined;
      if (staked) {
        const kept = { ...staked, txid: sha256(`stake ${hash}`), n: 0 };
        coins.push(kept);
        transactions.push(transactionText(kept.txid, [inputText(staked)], [kept]));
      }
      // Genesis pays nobody: its output can never be spent.
      if (height > 0) coins.push(reward);
      const block = { height, hash, previousHash: tip?.hash ?? null, time };
      tip = { height, hash, time };
      if (options.keepsHistory) history[height] = { tip, coins: [...coins] };
      return { ...block, text: blockText(block, transactions, reward.address, staked) };
    },
    rewind(height) {
      const kept = history[height];
      if (!kept) throw new RangeError(`no history of height ${height}`);
      tip = kept.tip;
      coins = [...kept.coins];
      return kept.tip.hash;
    },
  };
}

function blockText(
  block: Omit<PaymentBlock, 'text'>,
  transactions: readonly string[],
  miner: number,
  staked: Coin | undefined,
): string {
  const { height, hash, previousHash, time } = block;
  const merkleRoot = sha256(`merkle ${hash}`);
  const body = `"merkleroot":"${merkleRoot}","segid":-2,"finalsaplingroot":"${merkleRoot}","tx":[${transactions.join(',')}],`;
  const previous = previousHash === null ? '' : `"previousblockhash":"${previousHash}",`;
  const stake = staked
    ? `"postxddest":"${addressText(staked.address)}","posrewarddest":"${addressText(miner)}","possourcetxid":"${staked.txid}","possourcevoutnum":${staked.n},"postarget":"${sha256(hash)}",`
    : `"postxddest":"${addressText(miner)}",`;
  return (
    `{"hash":"${hash}","validationtype":"${staked ? 'stake' : 'work'}",${stake}"confirmations":1,"size":${body.length},` +
    `"height":${height},"version":65540,${body}"time":${time},"nonce":"${sha256(`nonce ${hash}`)}",` +
    `"solution":"${merkleRoot.repeat(42)}","bits":"200f0f0f","difficulty":${1 + (height % 997)}.${hex(height, 4).replace(/[a-f]/g, '7')}0,` +
    `"chainwork":"${hex(height, 64)}","chainstake":"${hex(height * 3, 64)}","anchor":"${merkleRoot}","blocktype":"${staked ? 'minted' : 'mined'}",` +
    `"valuePools":[],${previous}"proofroot":{"version":1,"type":1,"height":${height},"stateroot":"${merkleRoot}","gasprice":0.00000000}}`
  );
}

function transactionText(txid: string, inputs: readonly string[], outputs: readonly Coin[]): string {
  return (
    `{"txid":"${txid}","overwintered":true,"version":4,"versiongroupid":"892f2085","locktime":0,"expiryheight":0,` +
    `"vin":[${inputs.join(',')}],"vout":[${outputs.map(outputText).join(',')}],` +
    `"vjoinsplit":[],"valueBalance":0.00000000,"valueBalanceZat":0,"vShieldedSpend":[],"vShieldedOutput":[]}`
  );
}

function inputText({ txid, n, value, address }: Coin): string {
  const signature = `47${txid}${txid}0121${txid}ab`;
  return (
    `{"txid":"${txid}","vout":${n},"scriptSig":{"asm":"${signature}","hex":"${signature}"},"value":${satoshisToCoins(value)},` +
    `"valueSat":${value},"address":"${addressText(address)}","sequence":4294967295}`
  );
}

function outputText({ n, value, address }: Coin): string {
  const key = hex(address, 40);
  return (
    `{"value":${satoshisToCoins(value)},"valueZat":${value},"valueSat":${value},"n":${n},"scriptPubKey":{"type":"pubkeyhash",` +
    `"spendableoutput":true,"reqSigs":1,"addresses":["${addressText(address)}"],` +
    `"asm":"OP_DUP OP_HASH160 ${key} OP_EQUALVERIFY OP_CHECKSIG","hex":"76a914${key}88ac"}}`
  );
}

function addressText(index: number): string {
  return `R${createHash('sha1').update(`${index}`).digest('hex').slice(0, 33)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** mulberry32: small, fast, and the same everywhere. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

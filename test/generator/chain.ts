/**
 * A made-up chain, printed as the daemon prints its blocks. One seed gives one chain; after a reorganisation another branch
 * grows, in which senders include some of their transactions again.
 */
import { type BlockParts, blockText, type GeneratedBlock } from './block.ts';
import { type Coin, createCoins } from './coins.ts';
import type { Currency } from './currency.ts';
import type { Commitment, Identity } from './identity.ts';
import { createJournal } from './journal.ts';
import type { Mix } from './mixes.ts';
import { PAYMENTS } from './mixes.ts';
import { createRandom } from './random.ts';
import { coinbase, genesisTransaction, plainCoinbase, stakeable, stakeTransaction } from './rewards.ts';
import { sha256, type Transaction } from './transaction.ts';
import type { World } from './world.ts';

export type { GeneratedBlock } from './block.ts';

export interface GeneratedChain {
  /** Makes the next block. */
  next(): GeneratedBlock;
  /** Rewinds to the block at `height` and returns its hash; the next blocks are another branch. */
  rewind(height: number): string;
  /** -1 before genesis. */
  readonly height: number;
}

export interface GeneratedChainOptions {
  readonly seed: number;
  /** Number of wallets. */
  readonly addresses: number;
  /** Most transactions that a block tries to make, apart from its producer's own. */
  readonly transactions: number;
  /** Kinds of transactions; only payments by default. */
  readonly mix?: Mix;
  /** Whether it can rewind; costs memory for each block. */
  readonly rewinds?: boolean;
}

interface Block {
  readonly height: number;
  readonly hash: string;
  readonly time: number;
  /** Transactions that may be included again after a reorganisation. */
  readonly users: readonly Transaction[];
}

const GENESIS_TIME = 1_600_000_000;

export function createChain(options: GeneratedChainOptions): GeneratedChain {
  const { seed, addresses, transactions, mix = PAYMENTS, rewinds = false } = options;
  const random = createRandom(seed);
  const journal = createJournal(rewinds);
  const coins = createCoins(journal);
  const pools = { fees: 0n, shielded: 0n };
  const blocks: Block[] = [];
  let tip: Block | undefined;
  let returning: Transaction[] = [];
  let number = 0;
  let inBlock: Transaction[] = [];
  let users: Transaction[] = [];

  const world: World = {
    seed,
    random,
    journal,
    coins,
    addresses,
    get height() {
      return (tip?.height ?? -1) + 1;
    },
    identities: [] as Identity[],
    commitments: [] as Commitment[],
    currencies: [] as Currency[],
    takenNames: new Set(),
    pools,
    nextNumber: () => number++,
    include(transaction, again) {
      take(transaction);
      inBlock.push(transaction);
      if (again === 'again' && rewinds) users.push(transaction);
    },
  };

  function take({ inputs, outputs, apply }: Transaction): void {
    for (const coin of inputs) coins.spend(coin);
    for (const coin of outputs) coins.make(coin);
    apply();
  }

  function bringBack(): void {
    const waiting: Transaction[] = [];
    for (const transaction of returning) {
      const isUnspent = (coin: Coin): boolean => coin.place >= 0;
      if (transaction.expiryHeight < world.height) continue;
      if (!transaction.inputs.every(isUnspent) || !transaction.fits()) continue;
      if (random.oneIn(4)) waiting.push(transaction);
      else world.include(transaction, 'again');
    }
    returning = waiting;
  }

  function next(): GeneratedBlock {
    const { height } = world;
    const hash = sha256(`${seed} block ${world.nextNumber()}`);
    // Occasionally a block's time steps back, as with miners' clocks.
    const time = tip ? tip.time + (random.oneIn(10) ? -20 : 30 + random.below(60)) : GENESIS_TIME;
    const place = { height, hash, previousHash: tip?.hash ?? null, time };
    const shieldedBefore = pools.shielded;
    inBlock = [];
    users = [];
    let parts: Pick<BlockParts, 'transactions' | 'stake'>;
    if (height === 0) parts = { transactions: [genesisTransaction(sha256(`${seed} genesis`))], stake: null };
    else {
      for (const make of mix.everyBlock) make(world);
      bringBack();
      for (let tries = random.below(transactions + 1); tries > 0; tries--) random.pick(mix.makers)(world);
      parts = rewarded();
    }
    const shielded = { value: pools.shielded, delta: pools.shielded - shieldedBefore };
    journal.close();
    tip = { height, hash, time, users };
    if (rewinds) blocks.push(tip);
    return { ...place, text: blockText({ ...place, ...parts, shielded }) };
  }

  /** Puts the producer's transactions before and after the gathered ones. */
  function rewarded(): Pick<BlockParts, 'transactions' | 'stake'> {
    const fees = inBlock.reduce((sum, { fee }) => sum + fee, 0n);
    const owner = random.below(addresses);
    const coin = random.oneIn(2) ? stakeable(world) : undefined;
    const plain = mix.plainRewards === true;
    const reward = plain ? plainCoinbase(world, fees, owner) : coinbase(world, fees, owner, coin !== undefined);
    if (coin) world.include(stakeTransaction(world, coin, plain));
    const gathered = inBlock;
    take(reward);
    return {
      transactions: [reward, ...gathered].map(({ text }) => text),
      stake: coin ? { txid: coin.txid, n: coin.n, address: coin.address, owner } : null,
    };
  }

  return {
    get height() {
      return tip?.height ?? -1;
    },
    next,
    rewind(height) {
      const back = world.height - 1 - height;
      const stays = blocks[blocks.length - 1 - back];
      if (!stays || back < 0) throw new RangeError(`cannot go back from ${world.height - 1} to ${height}`);
      journal.undo(back);
      const left = blocks.splice(blocks.length - back);
      returning = [...left.flatMap((block) => block.users), ...returning];
      tip = stays;
      return stays.hash;
    },
  };
}

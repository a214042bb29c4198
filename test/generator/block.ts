/** Prints the block object around its transactions. */
import { keyAddress, NATIVE } from './addresses.ts';
import { filler, fixedHex, coins as inCoins, list, rotated } from './print.ts';

export interface GeneratedBlock {
  readonly height: number;
  readonly hash: string;
  readonly previousHash: string | null;
  readonly time: number;
  /** `getblock hash 2` */
  readonly text: string;
}

export interface BlockParts extends Omit<GeneratedBlock, 'text'> {
  readonly transactions: readonly string[];
  readonly stake: {
    readonly txid: string;
    readonly n: number;
    readonly address: string;
    readonly owner: number;
  } | null;
  /** Coins in the shielded pool after the block, and their change by the block. */
  readonly shielded: { readonly value: bigint; readonly delta: bigint };
}

const SOLUTION_BYTES = 1344;
const WORK_PER_BLOCK = 4096;
const STAKE_PER_BLOCK = 70_000_000;

export function blockText(parts: BlockParts): string {
  const { height, hash, previousHash, time, transactions, stake, shielded } = parts;
  const root = rotated(hash, 7);
  const tx = list(transactions);
  const header = `"version":65540,"merkleroot":"${root}","segid":-2,"finalsaplingroot":"${rotated(hash, 11)}"`;
  const work = fixedHex((height + 1) * WORK_PER_BLOCK, 32);
  const power = fixedHex(height * STAKE_PER_BLOCK, 32);
  return (
    `{"hash":"${hash}","validationtype":"${stake ? 'stake' : 'work'}",${stakeText(parts)}"confirmations":1,` +
    `"size":${SOLUTION_BYTES + Math.ceil(tx.length / 4)},"height":${height},${header},"tx":${tx},"time":${time},` +
    `"nonce":"${rotated(hash, 13)}","solution":"${filler(hash, SOLUTION_BYTES)}","bits":"1f00${fixedHex(height & 0xffff, 4)}",` +
    `"difficulty":${4000 + (height % 997)}.${fixedHex(height % 0x10000, 4).replace(/[a-f]/g, '7')}1,` +
    `"chainwork":"${work.padStart(64, '0')}","chainstake":"${power.padStart(64, '0')}","anchor":"${rotated(hash, 17)}",` +
    `"blocktype":"${stake ? 'minted' : 'mined'}","valuePools":${valuePools(shielded)},` +
    `${previousHash === null ? '' : `"previousblockhash":"${previousHash}",`}` +
    `"proofroot":{"version":1,"type":1,"systemid":"${NATIVE}","height":${height},"stateroot":"${rotated(hash, 19)}",` +
    `"blockhash":"${hash}","power":"${power}${work}"}${previousHash === null ? '' : `,"prevmmrroot":"${rotated(previousHash, 19)}"`}}`
  );
}

function stakeText({ hash, height, stake }: BlockParts): string {
  if (!stake) return '';
  const drawn = `${fixedHex(height, 16)}${hash.slice(16)}`;
  const reward = keyAddress(stake.owner).address;
  return (
    `"postarget":"${'f'.repeat(24).padStart(64, '0')}","poshashbh":"${drawn}","poshashtx":"${drawn}",` +
    `"possourcetxid":"${stake.txid}","possourcevoutnum":${stake.n},"posrewarddest":"${reward}","postxddest":"${stake.address}",`
  );
}

function valuePools({ value, delta }: BlockParts['shielded']): string {
  const pool = (id: string, held: bigint, change: bigint): string =>
    `{"id":"${id}","monitored":true,"chainValue":${inCoins(held)},"chainValueZat":${held},` +
    `"valueDelta":${inCoins(change)},"valueDeltaZat":${change}}`;
  return `[${pool('sprout', 0n, 0n)},${pool('sapling', value, delta)}]`;
}

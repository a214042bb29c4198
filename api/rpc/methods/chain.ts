/** Methods about blocks and the chain. */
import { mostBlocksBack, mostBlocksBetweenTimes, mostBlocksToVerify, mostPoints, stepOfLast } from '../guards.ts';
import { listOf, members } from '../parameters/containers.ts';
import { blockId, flag, hash, height, heightRange, hex, integer, word } from '../parameters/scalars.ts';
import { block, blockHeader, confirmedOutput, forever, supplyAtHeight, untilNextBlock } from './repeatable.ts';
import { daemon, fromIndex, type RpcMethod } from './rpc-method.ts';

const TIMES = members({ noOrphans: flag, logicalTimes: flag });
const OUTPUT = members({ txid: hash, index: integer });
const MEMPOOL_FILTER = members({
  include: listOf(word, 20),
  exclude: listOf(word, 20),
  expiresbefore: height,
  expiresafter: height,
  fulltxes: flag,
});

const heightOrTip = {
  kept: forever.kept,
  /** The reward depends only on the height. */
  lifetime: (texts: readonly string[]) => (texts.length === 0 ? 'tip' : 'forever') as 'tip' | 'forever',
};

export const CHAIN_METHODS: Readonly<Record<string, RpcMethod>> = {
  getbestblockhash: fromIndex('', [], 'Hash of the newest block.'),
  getblockcount: fromIndex('', [], 'Height of the newest block.'),
  getblockhash: fromIndex('index', [integer], 'Hash of the block at a height.'),

  coinsupply: daemon('( "height" )', [height], 'Coins issued up to a height.', {
    load: 'slow',
    repeatable: supplyAtHeight,
  }),
  getblock: daemon(
    '"hash|height" ( verbosity )',
    [blockId, flag],
    'A block: 0 serialised, 1 with transaction ids, 2 with transactions.',
    {
      repeatable: block,
    },
  ),
  getblockchaininfo: daemon('', [], 'State of the chain as the node sees it.'),
  getblockdeltas: daemon('"blockhash"', [hash], 'What a block moved, output by output.', { load: 'heavy' }),
  getblockhashes: daemon(
    'high low ( {"noOrphans":bool,"logicalTimes":bool} )',
    [integer, integer, TIMES],
    'Hashes of blocks in a span of time.',
    {
      load: 'heavy',
      guards: [mostBlocksBetweenTimes],
    },
  ),
  getblockheader: daemon('"hash" ( verbose )', [hash, flag], 'The header of a block.', { repeatable: blockHeader }),
  getchaintips: daemon('', [], 'Every branch that the node knows.'),
  getchaintxstats: daemon(
    '( nblocks "blockhash" )',
    [integer, hash],
    'Number and rate of transactions in a window of blocks.',
    {
      repeatable: untilNextBlock,
    },
  ),
  getdifficulty: daemon('', [], 'Difficulty of the next block of proof of work.'),
  getmempoolinfo: daemon('', [], 'Size of the mempool.'),
  getrawmempool: daemon(
    '( verbose {"include":[],"exclude":[],"fulltxes":bool} )',
    [flag, MEMPOOL_FILTER],
    'Transactions in the mempool.',
    {
      load: 'heavy',
    },
  ),
  getsaplingtree: daemon('( "n|m,n|m,n,o" )', [heightRange], 'State of the shielded commitment tree at heights.', {
    load: 'heavy',
    guards: [mostPoints(0, stepOfLast)],
  }),
  getsnapshot: daemon('( "top" )', [height], 'Every address with its native balance.', {
    load: 'slow',
    repeatable: untilNextBlock,
  }),
  getspentinfo: daemon('{"txid":"id","index":n}', [OUTPUT], 'Which input spends an output.'),
  gettxout: daemon('"txid" n ( includemempool )', [hash, integer, flag], 'An unspent output.', {
    repeatable: confirmedOutput,
  }),
  gettxoutproof: daemon(
    '["txid",...] ( "blockhash" )',
    [listOf(hash, 1000), hash],
    'Proof that transactions are in a block.',
    { load: 'heavy' },
  ),
  gettxoutsetinfo: daemon('', [], 'Size and hash of all unspent outputs.', {
    load: 'slow',
    repeatable: untilNextBlock,
  }),
  verifychain: daemon(
    '( checklevel numblocks )',
    [integer, integer],
    'Checks the newest blocks in the database of the node.',
    {
      load: 'slow',
      guards: [mostBlocksToVerify],
    },
  ),
  verifytxoutproof: daemon('"proof"', [hex], 'Transaction ids that a proof commits to.'),

  getblocksubsidy: daemon('( height )', [integer], 'Reward of a block.', { repeatable: heightOrTip }),
  getlocalsolps: daemon('', [], 'Solutions a second of the node itself.'),
  getminingdistribution: daemon('', [], 'How the node distributes its own rewards.'),
  getmininginfo: daemon('', [], 'Mining and staking figures.'),
  getnetworkhashps: daemon('( blocks height )', [integer, integer], 'Estimated hashes a second of the network.', {
    guards: [mostBlocksBack],
    repeatable: untilNextBlock,
  }),
  getnetworksolps: daemon('( blocks height )', [integer, integer], 'Estimated solutions a second of the network.', {
    guards: [mostBlocksBack],
    repeatable: untilNextBlock,
  }),

  getdeprecationinfo: daemon('', [], 'When this version of the node stops.'),
  getinfo: daemon('', [], 'Version, height, connections and fees of the node.'),
  getnetworkinfo: daemon('', [], 'Network state of the node.'),
  help: daemon('( "command" )', [word], 'What this service serves, or the help of one method.'),
};

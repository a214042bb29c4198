/** Methods about transactions, addresses, fees and signatures. */
import { listOf, mapOf, members, oneOrMore, plainOr, tree } from '../parameters/containers.ts';
import { either } from '../parameters/parameter-type.ts';
import {
  address,
  amount,
  base64,
  currency,
  dataKey,
  flag,
  freeText,
  hash,
  height,
  hex,
  identity,
  integer,
  secret,
  shortHex,
  transparentAddress,
  word,
} from '../parameters/scalars.ts';
import { forever, untilNextBlock } from './repeatable.ts';
import { daemon, extension, type RpcMethod } from './rpc-method.ts';

const ADDRESS_LIST = '{"addresses":["address",...]}';

const ADDRESSES = members({
  addresses: oneOrMore(address, 1000),
  start: integer,
  end: integer,
  chaininfo: flag,
  friendlynames: flag,
  verbosity: flag,
  asofblock: integer,
  vdxftag: address,
});

/** This many inputs with all their members reach the bound on values and keys of a call. */
const MOST_INPUTS = 2500;
const INPUT = members({ txid: hash, vout: integer, sequence: integer });
const OUTPUTS = mapOf(address, plainOr(amount, mapOf(currency, amount)), { data: hex });

const BALANCE_OF = plainOr(
  transparentAddress,
  members({ address: transparentAddress, currency: oneOrMore(currency, 100) }),
);

const SIGNED = members({
  address,
  signature: base64,
  message: freeText,
  messagehex: hex,
  messagebase64: freeText,
  datahash: hash,
  hashtype: word,
  prefixstring: secret,
  checklatest: flag,
  vdxfkeys: oneOrMore(dataKey, 100),
  vdxfkeynames: oneOrMore(dataKey, 100),
  boundhashes: oneOrMore(hash, 100),
  mmrdata: tree,
});

const ENCRYPTED = members({
  datadescriptor: tree,
  iddata: members({ identityid: identity, vdxfkey: dataKey, startheight: height, endheight: height, getlast: flag }),
  evk: secret,
  ivk: shortHex,
  txid: hash,
  retrieve: flag,
});

export const TRANSACTION_METHODS: Readonly<Record<string, RpcMethod>> = {
  createrawtransaction: daemon(
    '[{"txid":"id","vout":n},...] {"address":amount,...} ( locktime expiryheight )',
    [listOf(INPUT, MOST_INPUTS), OUTPUTS, integer, integer],
    'An unsigned transaction from inputs and outputs.',
  ),
  decoderawtransaction: daemon('"hexstring"', [hex], 'A serialised transaction as an object.'),
  decodescript: daemon('"hex"', [hex], 'A script as an object.'),
  getrawtransaction: daemon('"txid" ( verbose )', [hash, integer], 'A transaction, serialised or as an object.'),
  sendrawtransaction: daemon('"hexstring" ( allowhighfees )', [hex, flag], 'Broadcasts a signed transaction.', {
    broadcasts: true,
  }),
  estimatefee: daemon('nblocks', [integer], 'Fee for a transaction to be mined within a number of blocks.'),
  estimatepriority: daemon(
    'nblocks',
    [integer],
    'Priority for a free transaction to be mined within a number of blocks.',
  ),

  getaddressbalance: daemon(
    `"address" | ${ADDRESS_LIST}`,
    [plainOr(address, ADDRESSES)],
    'Balance of addresses, and the total they ever received.',
    {
      load: 'heavy',
      repeatable: untilNextBlock,
    },
  ),
  getaddressdeltas: daemon(
    `{"addresses":["address",...],"start":n,"end":n}`,
    [ADDRESSES],
    'Every movement of addresses.',
    {
      load: 'heavy',
      repeatable: untilNextBlock,
    },
  ),
  getaddressmempool: daemon(
    `"address" | ${ADDRESS_LIST}`,
    [plainOr(address, ADDRESSES)],
    'Movements of addresses in the mempool.',
  ),
  getaddresstxids: daemon(
    `"address" | {"addresses":["address",...],"start":n,"end":n}`,
    [plainOr(address, ADDRESSES)],
    'Transactions of addresses.',
    {
      load: 'heavy',
      repeatable: untilNextBlock,
    },
  ),
  getaddressutxos: daemon(
    `"address" | ${ADDRESS_LIST}`,
    [plainOr(address, ADDRESSES)],
    'Unspent outputs of addresses.',
    {
      load: 'heavy',
      repeatable: untilNextBlock,
    },
  ),
  getcurrencybalance: daemon(
    '"address" ( minconf friendlynames includeshared )',
    [BALANCE_OF, integer, flag, flag],
    'Balance of an address in every currency, as the wallet of the node sees it.',
  ),
  validateaddress: daemon('"address"', [either(address, word)], 'Whether a text is an address, and of what.'),
  createmultisig: daemon(
    'nrequired ["key",...]',
    [integer, listOf(address, 16)],
    'The address that several keys share.',
  ),
  convertpassphrase: daemon(
    '"walletpassphrase"',
    [secret],
    'Keys that a passphrase of another wallet encodes. Never logged.',
  ),

  getvdxfid: daemon(
    '"vdxfuri" ( {"vdxfkey":"id","uint256":"hex","indexnum":n} )',
    [dataKey, members({ vdxfkey: dataKey, uint256: hash, indexnum: integer })],
    'The id of a qualified name.',
    {
      repeatable: forever,
    },
  ),
  hashdata: daemon('"hex" ( "hashtype" "personal" )', [hex, word, word], 'The hash of data.', { repeatable: forever }),
  verifyhash: daemon(
    '"address or identity" "signature" "hexhash" ( checklatest )',
    [address, base64, hash, flag],
    'Whether a signature of a hash is valid.',
  ),
  verifymessage: daemon(
    '"address or identity" "signature" "message" ( checklatest )',
    [address, base64, freeText, flag],
    'Whether a signature of a message is valid.',
  ),
  verifysignature: daemon(
    '{"address":"id","signature":"base64","message":"text",...}',
    [SIGNED],
    'Whether a signature is valid.',
  ),
  decryptdata: daemon(
    '{"datadescriptor":{},"ivk":"hex","evk":"hex","txid":"id","retrieve":bool}',
    [ENCRYPTED],
    'Data that was encrypted to a viewing key, decrypted with the key of the call. Never logged.',
  ),

  getbalanceall: extension(
    '"address" | {"addresses":["address",...]}',
    'What addresses hold of every currency, with the value in USD.',
  ),
  gettxhistoryrich: extension(
    '"address" ( page pageSize ) | {"address":"address","from":height,"to":height}',
    'What transactions did to an address, newest first, with amounts, values, fee and counterparties (at most 50). usdValue is at the newest price, which is of block usdHeight; usdValueThen is at the price of the end of the block, as usdRuleThen says.',
  ),
};

/** Transactions, addresses, fees and signatures. */
import { addressGuard } from '../guards.ts';
import { forever, serialisedTransaction, untilNextBlock } from './repeatable.ts';
import { daemon, extension, type RpcMethod } from './rpc-method.ts';

const ADDRESSES = '{"addresses":["address",...]}';

export const TRANSACTION_METHODS: Readonly<Record<string, RpcMethod>> = {
  createrawtransaction: daemon(
    '[{"txid":"id","vout":n},...] {"address":amount,...} ( locktime expiryheight )',
    'An unsigned transaction from inputs and outputs.',
  ),
  decoderawtransaction: daemon('"hexstring"', 'A serialised transaction as an object.'),
  decodescript: daemon('"hex"', 'A script as an object.'),
  getrawtransaction: daemon('"txid" ( verbose )', 'A transaction, serialised or as an object.', {
    repeatable: serialisedTransaction,
  }),
  sendrawtransaction: daemon('"hexstring" ( allowhighfees )', 'Broadcasts a signed transaction.', { broadcasts: true }),
  estimatefee: daemon('nblocks', 'Fee for a transaction to be mined within a number of blocks.'),
  estimatepriority: daemon('nblocks', 'Priority for a free transaction to be mined within a number of blocks.'),

  getaddressbalance: daemon(`"address" | ${ADDRESSES}`, 'What addresses hold and ever received.', {
    load: 'heavy',
    repeatable: untilNextBlock,
  }),
  getaddressdeltas: daemon(`{"addresses":["address",...],"start":n,"end":n}`, 'Every movement of addresses.', {
    load: 'heavy',
    repeatable: untilNextBlock,
  }),
  getaddressmempool: daemon(`"address" | ${ADDRESSES}`, 'Movements of addresses that wait for a block.'),
  getaddresstxids: daemon(`"address" | {"addresses":["address",...],"start":n,"end":n}`, 'Transactions of addresses.', {
    load: 'heavy',
    repeatable: untilNextBlock,
  }),
  getaddressutxos: daemon(`"address" | ${ADDRESSES}`, 'Unspent outputs of addresses.', {
    load: 'heavy',
    repeatable: untilNextBlock,
  }),
  getcurrencybalance: daemon(
    '"address" ( minconf friendlynames includeshared )',
    'What an address holds of every currency, as the wallet of the node sees it.',
    { guards: [addressGuard] },
  ),
  validateaddress: daemon('"address"', 'Whether a text is an address, and of what.'),
  createmultisig: daemon('nrequired ["key",...]', 'The address that several keys share.'),
  convertpassphrase: daemon('"walletpassphrase"', 'Keys that a passphrase of another wallet stands for. Never logged.'),

  getvdxfid: daemon('"vdxfuri" ( {"vdxfkey":"id","uint256":"hex","indexnum":n} )', 'The id of a qualified name.', {
    repeatable: forever,
  }),
  hashdata: daemon('"hex" ( "hashtype" "personal" )', 'The hash of data.', { repeatable: forever }),
  verifyhash: daemon(
    '"address or identity" "signature" "hexhash" ( checklatest )',
    'Whether a signature of a hash holds.',
  ),
  verifymessage: daemon(
    '"address or identity" "signature" "message" ( checklatest )',
    'Whether a signature of a message holds.',
  ),
  verifysignature: daemon('{"address":"id","signature":"base64","message":"text",...}', 'Whether a signature holds.'),
  decryptdata: daemon(
    '{"datadescriptor":{},"ivk":"hex","evk":"hex","txid":"id","retrieve":bool}',
    'Data that was encrypted to a viewing key, decrypted with the key of the call. Never logged.',
  ),

  getbalanceall: extension(
    '"address" | {"addresses":["address",...]}',
    'What addresses hold of every currency, with the value in USD.',
  ),
  gettxhistoryrich: extension(
    '"address" ( page pageSize ) | {"address":"address","from":height,"to":height}',
    'What transactions did to an address, newest first, with amounts, values, fee and counterparties (at most 50).',
  ),
};

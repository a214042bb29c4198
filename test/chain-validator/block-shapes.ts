/** `getblock hash 2` as the daemon prints it, down to the decoded outputs. */
import { DECODED_SHAPES } from './decoded-shapes.ts';
import {
  address,
  anything,
  bool,
  coins,
  either,
  hash,
  hex,
  identityAddress,
  integer,
  isObject,
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  onlyTrue,
  type Shape,
  text,
} from './shape.ts';

/** A cryptocondition has one more key, with the decoded object, unless it is a simple payment. */
const script: Shape = (value, path, fault) => {
  const kinds = isObject(value) ? Object.keys(value).filter((key) => key in DECODED_SHAPES) : [];
  const decoded = Object.fromEntries(kinds.map((kind) => [kind, DECODED_SHAPES[kind] ?? anything]));
  object({
    type: oneOf(
      'nonstandard',
      'pubkey',
      'pubkeyhash',
      'scripthash',
      'multisig',
      'nulldata',
      'cryptocondition',
      'invalid',
    ),
    'vdxftag?': address,
    ...decoded,
    spendableoutput: bool,
    'reserve_balance?': mapOf(text, coins),
    'reqSigs?': integer,
    'addresses?': listOf(address),
    'asm?': text,
    hex,
  })(value, path, fault);
};

const output = object({
  value: coins,
  valueZat: integer,
  valueSat: integer,
  n: integer,
  scriptPubKey: script,
  // Whether a block has these members depends on the time of the query.
  'spentTxId?': hash,
  'spentIndex?': integer,
  'spentHeight?': integer,
});

const input = either(
  object({ coinbase: hex, sequence: integer }),
  object({
    txid: hash,
    vout: integer,
    scriptSig: object({ asm: text, hex }),
    'value?': coins,
    'valueSat?': integer,
    'address?': address,
    sequence: integer,
  }),
);

const shieldedSpend = object({ cv: hash, anchor: hash, nullifier: hash, rk: hash, proof: hex, spendAuthSig: hex });
const shieldedOutput = object({
  cv: hash,
  cmu: hash,
  ephemeralKey: hash,
  encCiphertext: hex,
  outCiphertext: hex,
  proof: hex,
});

const transaction = object({
  txid: hash,
  overwintered: bool,
  version: integer,
  'versiongroupid?': hex,
  locktime: integer,
  'expiryheight?': integer,
  vin: listOf(input),
  vout: listOf(output),
  vjoinsplit: listOf(anything),
  'valueBalance?': coins,
  'valueBalanceZat?': integer,
  'vShieldedSpend?': listOf(shieldedSpend),
  'vShieldedOutput?': listOf(shieldedOutput),
  'bindingSig?': hex,
});

const stakeMembers: Readonly<Record<string, Shape>> = {
  postarget: hash,
  poshashbh: hash,
  poshashtx: hash,
  possourcetxid: hash,
  possourcevoutnum: integer,
  posrewarddest: address,
  'posrewardpk?': hex,
  postxddest: address,
};

function blockOf(validationType: string, blockType: string, stake: Readonly<Record<string, Shape>>): Shape {
  return object({
    hash,
    validationtype: oneOf(validationType),
    ...stake,
    confirmations: integer,
    size: integer,
    height: integer,
    version: integer,
    merkleroot: hash,
    segid: integer,
    finalsaplingroot: hash,
    tx: listOf(transaction),
    time: integer,
    nonce: hash,
    solution: hex,
    bits: hex,
    difficulty: number,
    chainwork: hash,
    chainstake: hash,
    anchor: hash,
    blocktype: oneOf(blockType),
    valuePools: listOf(
      object({
        id: oneOf('sprout', 'sapling'),
        monitored: onlyTrue,
        chainValue: coins,
        chainValueZat: integer,
        'valueDelta?': coins,
        'valueDeltaZat?': integer,
      }),
    ),
    'previousblockhash?': hash,
    'nextblockhash?': hash,
    proofroot: object({
      version: integer,
      type: integer,
      systemid: identityAddress,
      height: integer,
      stateroot: hash,
      blockhash: hash,
      power: hash,
    }),
    'prevmmrroot?': hash,
  });
}

const mined = blockOf('work', 'mined', {});
const minted = blockOf('stake', 'minted', stakeMembers);

export const blockShape: Shape = (value, path, fault) => {
  const isStake = isObject(value) && value.validationtype === 'stake';
  (isStake ? minted : mined)(value, path, fault);
};

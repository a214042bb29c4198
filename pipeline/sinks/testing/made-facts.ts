/** Facts made by hand: only what a test says about them matters. */

import type { TransferStatus } from '../../../domain/transfers.ts';
import type {
  BalanceFact,
  BlockFact,
  Fact,
  IdentityFact,
  OutputFact,
  SpendFact,
  TransferFact,
} from '../../../schemas/facts.ts';
import type { DerivedBlock } from '../derived-block.ts';

const ZERO = '0'.repeat(64);

export function blockFact(height: number): BlockFact {
  return {
    type: 'block',
    hash: height.toString(16).padStart(64, '0'),
    previousHash: height === 0 ? null : (height - 1).toString(16).padStart(64, '0'),
    time: 1_600_000_000 + height * 60,
    clock: 1_600_000_000 + height * 60,
    size: 100,
    txCount: 1,
    validationType: 'work',
    difficulty: '1.50000000',
    bits: '200f0f0f',
    nonce: ZERO,
    version: 65540,
    merkleRoot: ZERO,
    chainWork: ZERO,
    chainStake: ZERO,
    reward: 6_00000000n,
    minerAddress: null,
    fees: 0n,
    feePool: null,
    transparentChange: 0n,
    shieldedSupply: null,
    stake: null,
  };
}

/** Position and height are the same unless told otherwise. */
export function blockOf(height: number, facts: readonly Fact[], position = height): DerivedBlock {
  const block = blockFact(height);
  return { position, height, block, facts: [block, ...facts] };
}

export function output(txid: string, n: number): OutputFact {
  return {
    type: 'output',
    txid,
    txIndex: 0,
    n,
    value: 1n,
    currencies: {},
    kind: 'pubkeyhash',
    addresses: ['R1'],
    data: null,
  };
}

export function spend(txid: string, n: number, spentTxid: string, spentIndex: number): SpendFact {
  return { type: 'spend', txid, n, spentTxid, spentIndex };
}

export function balance(address: string, satoshis: bigint): BalanceFact {
  return { type: 'balance', address, currencyId: 'iN', balance: satoshis, received: satoshis };
}

export function identity(identityAddress: string, txIndex: number): IdentityFact {
  return {
    type: 'identity',
    identityAddress,
    name: 'alice',
    parent: 'iN',
    fullyQualifiedName: 'alice.VRSC',
    txid: ZERO,
    vout: 0,
    txIndex,
    kind: 'registered',
    flags: 0,
    timelock: 0,
    revocationAuthority: identityAddress,
    recoveryAuthority: identityAddress,
    primaryAddresses: ['R1'],
    minimumSignatures: 1,
    registeredHeight: 1,
    referral: null,
    registration: null,
    contentHashes: null,
    changes: '[]',
    state: '{}',
  };
}

export function transfer(txid: string, status: TransferStatus): TransferFact {
  return {
    type: 'transfer',
    txid,
    vout: 0,
    kind: 'convert',
    status,
    flags: 3,
    fromCurrencyId: 'iN',
    toCurrencyId: 'iB',
    viaCurrencyId: null,
    importCurrencyId: 'iB',
    amountIn: 1n,
    transferFee: 1n,
    transferFeeCurrencyId: 'iN',
    conversionFee: 0n,
    amountOut: null,
    destination: 'R1',
    source: 'R2',
    destinationSystemId: null,
    importSystemId: null,
    sourceSystemId: null,
    requestHeight: 1,
    requestTime: 1_600_000_000,
    exportTxid: null,
    exportVout: null,
    exportIndex: null,
    exportHeight: null,
    importTxid: null,
    importHeight: null,
    importTime: null,
    payoutVout: null,
    reason: null,
  };
}

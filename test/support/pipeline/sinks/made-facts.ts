/** Synthetic facts: a test sets only the fields that matter to it. */
import type { TransferStatus } from '../../../../domain/transfers.ts';
import type { DerivedBlock } from '../../../../pipeline/sinks/derived-block.ts';
import type {
  BalanceFact,
  BlockFact,
  Fact,
  IdentityFact,
  OutputFact,
  SpendFact,
  TransferFact,
} from '../../../../schemas/facts.ts';
import { madeFact } from '../../schemas/facts/made-fact.ts';

const hashOf = (height: number): string => height.toString(16).padStart(64, '0');

export function blockFact(height: number): BlockFact {
  const time = 1_600_000_000 + height * 60;
  const previousHash = height === 0 ? null : hashOf(height - 1);
  return madeFact('block', { hash: hashOf(height), previousHash, time, clock: time, difficulty: '1.50000000' });
}

/** Position and height are equal by default. */
export function blockOf(height: number, facts: readonly Fact[], position = height): DerivedBlock {
  const block = blockFact(height);
  return { position, height, block, facts: [block, ...facts] };
}

export function output(txid: string, n: number): OutputFact {
  return madeFact('output', { txid, n, value: 1n, kind: 'pubkeyhash', addresses: ['R1'] });
}

export function spend(txid: string, n: number, spentTxid: string, spentIndex: number): SpendFact {
  return madeFact('spend', { txid, n, spentTxid, spentIndex });
}

export function balance(address: string, satoshis: bigint): BalanceFact {
  return madeFact('balance', { address, currencyId: 'iN', balance: satoshis, received: satoshis });
}

export function identity(identityAddress: string, txIndex: number): IdentityFact {
  return madeFact('identity', {
    identityAddress,
    name: 'alice',
    parent: 'iN',
    fullyQualifiedName: 'alice.VRSC',
    txIndex,
    revocationAuthority: identityAddress,
    recoveryAuthority: identityAddress,
    primaryAddresses: ['R1'],
    minimumSignatures: 1,
    registeredHeight: 1,
    changes: '[]',
  });
}

export function transfer(txid: string, status: TransferStatus): TransferFact {
  return madeFact('transfer', {
    txid,
    status,
    flags: 3,
    fromCurrencyId: 'iN',
    toCurrencyId: 'iB',
    importCurrencyId: 'iB',
    amountIn: 1n,
    transferFee: 1n,
    transferFeeCurrencyId: 'iN',
    destination: 'R1',
    source: 'R2',
    requestHeight: 1,
    requestTime: 1_600_000_000,
  });
}

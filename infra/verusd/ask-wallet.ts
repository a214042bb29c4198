/** Reads what the wallet of one daemon contains. */
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import { DaemonGarbage, DaemonRpcError } from './daemon-errors.ts';
import type { CallOptions, VerusdClient } from './verusd-client.ts';

export type WalletContent = 'coins' | 'shielded addresses';

export interface Wallet {
  /** False if the daemon runs without a wallet. */
  readonly exists: boolean;
  readonly holds: readonly WalletContent[];
}

const NO_WALLET: Wallet = { exists: false, holds: [] };

/** @throws errors of the client, or DaemonGarbage for an unusable answer */
export async function askWallet(client: Pick<VerusdClient, 'call'>, signal: AbortSignal): Promise<Wallet> {
  try {
    const info = await client.call('getwalletinfo', [], { signal });
    const addresses = await client.call('z_listaddresses', [], { signal });
    if (!Array.isArray(addresses)) throw new DaemonGarbage('z_listaddresses did not return a list');
    const holds: WalletContent[] = [];
    if (hasCoins(info)) holds.push('coins');
    if (addresses.length > 0) holds.push('shielded addresses');
    return { exists: true, holds };
  } catch (error) {
    if (error instanceof DaemonRpcError && error.rpcCode === RPC_CODES.methodNotFound) return NO_WALLET;
    throw error;
  }
}

/** Whether the daemon has a wallet; does not count its contents. @throws as askWallet */
export async function hasWallet(
  client: Pick<VerusdClient, 'call'>,
  { signal, timeoutMs }: Pick<CallOptions, 'signal' | 'timeoutMs'>,
): Promise<boolean> {
  const info = await client.call('getinfo', [], { signal, timeoutMs });
  if (typeof info !== 'object' || info === null) throw new DaemonGarbage('getinfo did not return an object');
  return 'walletversion' in info;
}

/** Checks balances of every kind: confirmed or not, immature, locked, shared, in any currency. */
function hasCoins(info: unknown): boolean {
  const balances = Object.entries(typeof info === 'object' && info !== null ? info : {}).filter(([name]) =>
    name.includes('balance'),
  );
  if (balances.length === 0) throw new DaemonGarbage('getwalletinfo returned no balance');
  return balances.some(([, balance]) => isAboveZero(balance));
}

/** `balance` is a number, or a number by currency. An unreadable balance counts as coins, because it does not prove an empty wallet. */
function isAboveZero(balance: unknown): boolean {
  if (isByCurrency(balance)) return Object.values(balance).some(isAboveZero);
  return Number(String(balance)) !== 0;
}

function isByCurrency(balance: unknown): balance is Readonly<Record<string, unknown>> {
  return typeof balance === 'object' && balance !== null && !('isLosslessNumber' in balance);
}

/** Whether a call may reach the wallets of a chain's daemons. */
import type { WalletWatch } from '../../infra/verusd/wallet-watch.ts';
import type { RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import { internalError, methodNotFound } from './rpc-error.ts';
import { walletUse } from './wallet-methods.ts';

export type Wallets = Pick<WalletWatch, 'wallets' | 'askUnknown'>;

/**
 * With `requireEmptyWallet` a method that touches a wallet exists only while every daemon of the chain is known to have an empty
 * wallet or none. A method that would end a daemon without a wallet exists only where every daemon has one.
 * @throws RpcError -32601, or -32603 while a daemon that might end has never answered
 */
export function walletGuard(wallets: Wallets, requireEmptyWallet: boolean) {
  function refuseUnlessEmpty(): void {
    const isKnownEmpty = wallets.wallets().every(({ wallet, isFresh }) => isFresh && wallet?.holds.length === 0);
    if (!isKnownEmpty) throw methodNotFound();
  }

  function refuseWithoutWallet(): void {
    if (wallets.wallets().some(({ wallet }) => wallet?.exists === false)) throw methodNotFound();
  }

  const hasUnknown = () => wallets.wallets().some(({ wallet }) => wallet === null);

  return (request: RpcRequest): void | Promise<void> => {
    const use = walletUse(request);
    if (use === null) return;
    if (requireEmptyWallet) refuseUnlessEmpty();
    if (use === 'reads') return;
    refuseWithoutWallet();
    if (!hasUnknown()) return;
    return wallets.askUnknown().then(() => {
      refuseWithoutWallet();
      if (hasUnknown()) throw internalError(new Error('a daemon of the chain has not said whether it has a wallet'));
    });
  };
}

/** Decides whether a call may use the wallets of a chain's daemons. */
import type { WalletWatch } from '../../infra/verusd/wallet-watch.ts';
import type { RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import { internalError, methodNotFound } from './rpc-error.ts';
import { walletUse } from './wallet-methods.ts';

export type Wallets = Pick<WalletWatch, 'wallets' | 'askUnsure'>;

/**
 * With `requireEmptyWallet`, methods that use a wallet are served only while every daemon of the chain is known to have an empty wallet
 * or none. Methods that crash a daemon without a wallet are served only if every daemon has one, and sent only after the reachable
 * daemons have just confirmed that: a daemon may have been restarted without its wallet.
 * @throws RpcError -32601, or -32603 while a daemon that might crash has not answered
 */
export function walletGuard(wallets: Wallets, requireEmptyWallet: boolean) {
  function refuseUnlessEmpty(): void {
    const isKnownEmpty = wallets.wallets().every(({ wallet, isFresh }) => isFresh && wallet?.holds.length === 0);
    if (!isKnownEmpty) throw methodNotFound();
  }

  function refuseWithoutWallet(): void {
    if (wallets.wallets().some(({ wallet }) => wallet?.exists === false)) throw methodNotFound();
  }

  function isSure(): boolean {
    const all = wallets.wallets();
    const isUnknown = all.some(({ wallet, lately }) => wallet === null || lately === 'unknown');
    return !isUnknown && all.some(({ lately }) => lately === 'answered');
  }

  return (request: RpcRequest): void | Promise<void> => {
    const use = walletUse(request);
    if (use === null) return;
    if (requireEmptyWallet) refuseUnlessEmpty();
    if (use === 'reads') return;
    refuseWithoutWallet();
    if (isSure()) return;
    return wallets.askUnsure().then(() => {
      if (requireEmptyWallet) refuseUnlessEmpty();
      refuseWithoutWallet();
      if (!isSure()) throw internalError(new Error('a daemon of the chain does not say whether it has a wallet'));
    });
  };
}

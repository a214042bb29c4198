/** Whether a call may reach the wallets of a chain's daemons. */
import type { WalletWatch } from '../../infra/verusd/wallet-watch.ts';
import type { RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import { internalError, methodNotFound } from './rpc-error.ts';
import { walletUse } from './wallet-methods.ts';

export type Wallets = Pick<WalletWatch, 'wallets' | 'askUnsure'>;

/**
 * With `requireEmptyWallet` a method that touches a wallet exists only while every daemon of the chain is known to have an empty
 * wallet or none. A method that would end a daemon without a wallet exists only where every daemon has one, and is sent only when
 * those that can be reached have just said that they still do: a daemon may have been started again without it.
 * @throws RpcError -32601, or -32603 while a daemon that might end does not say
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

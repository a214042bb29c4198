/** Reserve transfers inside a block: the block's own changes take precedence over the state. */
import { PermanentError } from '../../schemas/errors.ts';
import type { ExportFact, TransferFact } from '../../schemas/facts.ts';
import type { ChainState } from '../state/chain-state.ts';

/** The state lacks a transfer that an export or import names. The error omits the chain's name, because facts must not depend on it. */
export class UnknownTransferError extends PermanentError {
  constructor(what: string) {
    super('unknown_transfer', `${what} is unknown`);
  }
}

export interface TransferBook {
  find(txid: string, vout: number): TransferFact | undefined;
  /** Transfers of the export, in its order. @throws UnknownTransferError */
  gathered(made: ExportFact): TransferFact[];
  put(transfers: Iterable<TransferFact>): void;
  /** The last version of each transfer that was put, in order of first change. */
  changed(): TransferFact[];
}

export function createTransferBook(state: ChainState): TransferBook {
  const changed = new Map<string, TransferFact>();
  const book: TransferBook = {
    find: (txid, vout) => changed.get(`${txid}:${vout}`) ?? state.transfer(txid, vout),
    gathered: (made) =>
      made.transfers.map(({ txid, vout }) => {
        const transfer = book.find(txid, vout);
        if (transfer) return transfer;
        throw new UnknownTransferError(`transfer ${txid}:${vout} of export ${made.txid}:${made.vout}`);
      }),
    put: (transfers) => {
      for (const transfer of transfers) changed.set(`${transfer.txid}:${transfer.vout}`, transfer);
    },
    changed: () => [...changed.values()],
  };
  return book;
}

/** Reserve transfers as they stand inside a block: what the block changed before what the state knew. */
import { PermanentError } from '../../schemas/errors.ts';
import type { ExportFact, TransferFact } from '../../schemas/facts.ts';
import type { ChainState } from '../state/chain-state.ts';

/** What an export or import names and the state was not given. The chain's name is not in it: facts do not depend on names. */
export class UnknownTransferError extends PermanentError {
  constructor(what: string) {
    super('unknown_transfer', `${what} is unknown`);
  }
}

export interface TransferBook {
  find(txid: string, vout: number): TransferFact | undefined;
  /** What the export gathers, in its order. Throws UnknownTransferError. */
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

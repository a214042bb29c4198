/** Errors that stop a tailer although the daemon answers. */
import type { BlockRef } from '../../domain/block-ref.ts';
import { PermanentError, RetryableError } from '../../schemas/errors.ts';

/** The daemon's chain must not be followed. Nothing is written; the tailer continues once the daemon is back on our chain. */
export abstract class ChainHalted extends PermanentError {}

export interface DeepRewind {
  readonly chain: string;
  /** Newest common block of the log and the daemon. */
  readonly fork: BlockRef;
  /** Number of blocks from the fork to the highest block that the log has had. */
  readonly depth: number;
  readonly finalityDepth: number;
}

/** The daemon left our chain below the final height. */
export class RewindTooDeep extends ChainHalted {
  constructor({ chain, fork, depth, finalityDepth }: DeepRewind) {
    super(
      'rewind_too_deep',
      `The daemon of ${chain} is on another branch since height ${fork.height}: following it would remove ${depth} blocks, ` +
        `the limit (finalityDepth) is ${finalityDepth}. Nothing was changed. Most likely the daemon is broken or on a minority ` +
        'branch: repair it and the tailer continues by itself. If this branch is right, allow this one rewind: ' +
        `verustream accept-rewind ${chain} ${fork.height} ${fork.hash}`,
    );
  }
}

/** The daemon serves another chain than that of the configuration or the log. */
export class WrongChain extends ChainHalted {
  constructor(message: string) {
    super('wrong_chain', message);
  }
}

/** The daemon is on our branch but lacks blocks that the log has (a restart, a resync, a restored backup): the tailer waits for it. */
export class DaemonBehind extends RetryableError {
  constructor(chain: string, daemonHeight: number, logHeight: number) {
    super('daemon_behind', `${standsBehind(chain, daemonHeight, logHeight)}; waiting for it.`);
  }
}

/** Like DaemonBehind, but the missing blocks were final: the tailer waits, and the operator should check the daemon. */
export class DaemonLostBlocks extends ChainHalted {
  constructor(chain: string, daemonHeight: number, logHeight: number, finalityDepth: number) {
    super(
      'daemon_lost_blocks',
      `${standsBehind(chain, daemonHeight, logHeight)}: more than finalityDepth (${finalityDepth}) allows. Nothing was changed. ` +
        'If it is not syncing, repair it; the tailer continues by itself once the daemon has the blocks again.',
    );
  }
}

function standsBehind(chain: string, daemonHeight: number, logHeight: number): string {
  const behind = logHeight - daemonHeight;
  return `The daemon of ${chain} is at height ${daemonHeight}, ${behind} blocks behind the log, on the same branch`;
}

/** The log does not contain one linked chain of blocks; only a broken disk or a foreign writer can cause this. */
export class LogInconsistent extends PermanentError {
  constructor(message: string) {
    super('log_inconsistent', message);
  }
}

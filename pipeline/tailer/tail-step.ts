/** One step of the tailer: compares the daemon's chain with the log and acts on the result. */

import type { BlockRef } from '../../domain/block-ref.ts';
import { finalizedHeight } from '../../domain/finality.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { type AppendLimits, appendBranch } from './append-branch.ts';
import { compareChains } from './compare-chains.ts';
import type { DaemonChain } from './daemon-chain.ts';
import { follows } from './fetched-block.ts';
import type { LogEnd } from './log-end.ts';
import type { TailReport } from './tail-report.ts';
import { DaemonBehind, DaemonLostBlocks, RewindTooDeep, WrongChain } from './tailer-errors.ts';

export interface TailContext {
  readonly chain: ChainConfig;
  readonly daemon: DaemonChain;
  readonly report: TailReport;
  readonly limits: AppendLimits;
  readonly signal: AbortSignal;
  readonly ended: () => boolean;
  /** Called for a block that polling has found and no notification announced. */
  readonly foundByAsking: (hash: string) => void;
  /** Returns the operator's unused permission for a rewind to this block, or null. */
  readonly permission: (fork: BlockRef) => { take(): Promise<boolean> } | null;
}

/** 'moved': run the next step at once; 'still': nothing to do until the daemon moves; 'changing': the daemon moved during the step. */
export type StepResult = 'moved' | 'still' | 'changing';

/** @throws WrongChain when the daemon serves another currency or has another genesis block than the log */
export async function verifyChain({ daemon, chain }: TailContext, end: LogEnd): Promise<void> {
  await daemon.tip();
  const genesis = await end.hashAt(0);
  if (genesis === null) return;
  const theirs = await daemon.hashAt(0);
  if (theirs !== genesis) throw unrelated(chain, genesis, theirs);
}

/**
 * `announced` is a block that a daemon has announced as its newest; without it the daemon is asked.
 * @throws ChainHalted when the daemon's chain must not be followed; Daemon… and log errors
 */
export async function tailStep(
  context: TailContext,
  end: LogEnd,
  announced: string | null = null,
): Promise<StepResult> {
  const { chain, daemon, report } = context;
  // Read before the daemon is asked, since blocks may arrive in between.
  const isEnded = context.ended();
  const ours = end.tip();
  if (ours) {
    const newest = announced ?? (await daemon.bestHash());
    if (newest === ours.hash) return atTip(report, ours, isEnded);
    // Usually there is one new block, so this call is enough.
    const next = await daemon.blockOf(newest);
    if (next && follows(next, ours)) {
      report.target(next.height); // reported even if the log cannot be written
      await end.append([next]);
      if (announced === null) context.foundByAsking(newest);
      report.at(next, 1);
      return atTip(report, next, isEnded);
    }
  }
  const theirs = await daemon.tip();
  report.target(theirs.height);
  const comparison = await compareChains({ tip: ours, hashAt: end.hashAt }, { tip: theirs, hashAt: daemon.hashAt });
  switch (comparison.kind) {
    case 'equal':
      return atTip(report, theirs, isEnded);
    case 'behind':
      return waitFor(context, end, theirs);
    case 'ahead':
      report.state('catching_up');
      return append(context, end, theirs.height);
    case 'forked':
      return switchBranch(context, end, comparison.fork);
    case 'unrelated':
      throw unrelated(chain, (await end.hashAt(0)) ?? '', await daemon.hashAt(0));
  }
}

/** Waits for a node that lacks a few blocks, which it is about to get; a node that has lost final blocks needs the operator. */
function waitFor({ chain, report }: TailContext, end: LogEnd, theirs: BlockRef): StepResult {
  const height = end.tip()?.height ?? 0;
  if (theirs.height < finalizedHeight(end.highest(), chain.finalityDepth)) {
    throw new DaemonLostBlocks(chain.name, theirs.height, height, chain.finalityDepth);
  }
  report.state('waiting', new DaemonBehind(chain.name, theirs.height, height));
  return 'still';
}

function atTip(report: TailReport, tip: BlockRef, isEnded: boolean): StepResult {
  report.target(tip.height);
  report.state(isEnded ? 'ended' : 'following');
  return 'still';
}

async function append(context: TailContext, end: LogEnd, to: number): Promise<StepResult> {
  const { daemon, limits, signal, report } = context;
  const appended = await appendBranch({
    daemon,
    end,
    to,
    limits,
    signal,
    appended: (newest, count) => report.at(newest, count),
  });
  return appended > 0 ? 'moved' : 'changing';
}

/** Rewinds only after fetching a block of the new branch, so that nothing is written if the daemon switches back meanwhile. */
async function switchBranch(context: TailContext, end: LogEnd, fork: BlockRef): Promise<StepResult> {
  const { chain, daemon, report, signal } = context;
  const from = end.tip();
  const first = await daemon.block(fork.height + 1, signal);
  if (!from || !first || first.previousHash !== fork.hash || first.hash === (await end.hashAt(first.height)))
    return 'changing';
  const depth = end.highest() - fork.height;
  const { finalityDepth } = chain;
  const isTooDeep = fork.height < finalizedHeight(end.highest(), finalityDepth);
  // Taken before the rewind is written: a crash between the two must not leave a permission for a second rewind.
  if (isTooDeep && !(await context.permission(fork)?.take())) {
    throw new RewindTooDeep({ chain: chain.name, fork, depth, finalityDepth });
  }
  report.state('catching_up');
  await end.switchBranch(fork, first);
  report.rewound(fork.height, from.height);
  report.at(first, 1);
  return 'moved';
}

function unrelated({ name }: ChainConfig, ours: string, theirs: string | null): WrongChain {
  return new WrongChain(
    `The daemon of ${name} has block ${theirs} at height 0, the log has ${ours}: they are different chains. Nothing was written. ` +
      `Correct the daemon address of ${name}, or give this chain a data folder (or topic) of its own.`,
  );
}

/** One step: looks at the daemon and acts on its state. */

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
  /** Told of a block that only asking has shown. */
  readonly foundByAsking: (hash: string) => void;
  /** The operator's permission for a rewind to this block, not used yet. */
  readonly permission: (fork: BlockRef) => { use(): void } | null;
}

/** 'moved': look again at once; 'still': nothing to do until the daemon moves; 'changing': the daemon moved under us. */
export type StepResult = 'moved' | 'still' | 'changing';

/** @throws WrongChain when the daemon serves another currency, or another genesis block than the log holds */
export async function verifyChain({ daemon, chain }: TailContext, end: LogEnd): Promise<void> {
  await daemon.tip();
  const genesis = await end.hashAt(0);
  if (genesis === null) return;
  const theirs = await daemon.hashAt(0);
  if (theirs !== genesis) throw unrelated(chain, genesis, theirs);
}

/**
 * `announced` is a block that the daemon has named as its newest; without one it is asked.
 * @throws ChainHalted when the daemon's chain must not be followed; Daemon… and log errors
 */
export async function tailStep(
  context: TailContext,
  end: LogEnd,
  announced: string | null = null,
): Promise<StepResult> {
  const { chain, daemon, report } = context;
  // Asked before the daemon is: blocks may come in between.
  const isEnded = context.ended();
  const ours = end.tip();
  if (ours) {
    const newest = announced ?? (await daemon.bestHash());
    if (newest === ours.hash) return atTip(report, ours, isEnded);
    // One block more is the rule, and then it is all there is to ask for.
    const next = await daemon.blockOf(newest);
    if (next && follows(next, ours)) {
      report.target(next.height); // known also while the log cannot take it
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

/** A node that lacks a few blocks is about to get them; one that lost final blocks needs the operator. */
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

/** Rewinds only with a block of the new branch in hand, so that a daemon that changes its mind meanwhile costs nothing. */
async function switchBranch(context: TailContext, end: LogEnd, fork: BlockRef): Promise<StepResult> {
  const { chain, daemon, report, signal } = context;
  const from = end.tip();
  const first = await daemon.block(fork.height + 1, signal);
  if (!from || !first || first.previousHash !== fork.hash || first.hash === (await end.hashAt(first.height)))
    return 'changing';
  const depth = end.highest() - fork.height;
  const { finalityDepth } = chain;
  const isTooDeep = fork.height < finalizedHeight(end.highest(), finalityDepth);
  const permission = isTooDeep ? context.permission(fork) : null;
  if (isTooDeep && !permission) {
    throw new RewindTooDeep({ chain: chain.name, fork, depth, finalityDepth });
  }
  report.state('catching_up');
  await end.switchBranch(fork, first);
  permission?.use();
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

import { describe, expect, it } from 'vitest';
import type { Stage, StageStatus } from '../../schemas/stage-status.ts';
import { readStageStatuses, whyStill } from './stage-statuses.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const chain = {
  name: 'vrsc',
  rpc: '',
  rootCurrency: 'VRSC',
  networkRoot: 'VRSC',
  stableAnchors: [],
  blockSeconds: 60,
  finalityDepth: 100,
  minBasketAge: 0,
};

const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

function status(changes: Partial<StageStatus> = {}): StageStatus {
  const fresh = { state: 'following', height: 10, targetHeight: 10, rate: 0, etaSeconds: null } as const;
  return { ...fresh, movedAt: ago(5), error: null, ...changes };
}

function reasons(stages: Partial<Record<Stage, StageStatus>>): string[] {
  const rows = Object.entries(stages).map(([stage, given]) => ({
    stage: stage as Stage,
    chain: 'vrsc',
    status: JSON.stringify(given),
  }));
  return whyStill(chain, readStageStatuses(rows), NOW).map(({ code, stage }) => `${stage} ${code}`);
}

describe('a chain', () => {
  it('moves while a block arrived in the last 20 block times', () => {
    expect(reasons({ tail: status(), derive: status() })).toEqual([]);
    expect(reasons({ tail: status({ movedAt: ago(1199) }), derive: status() })).toEqual([]);
    expect(reasons({ tail: status({ movedAt: ago(1201) }), derive: status() })).toEqual(['tail stalled']);
    expect(reasons({ tail: status({ movedAt: null }), derive: status() })).toEqual(['tail stalled']);
  });

  it('does not stall at the end of a recording', () => {
    const ended = status({ state: 'ended', movedAt: ago(100_000) });
    expect(reasons({ tail: ended, derive: status({ movedAt: ago(100_000) }) })).toEqual([]);
  });

  it('stalls when what arrived is not derived', () => {
    const behind = { height: 9, movedAt: ago(1201) };
    expect(reasons({ tail: status(), derive: status(behind) })).toEqual(['derive stalled']);
    expect(reasons({ tail: status(), derive: status({ ...behind, movedAt: ago(30) }) })).toEqual([]);
    expect(reasons({ tail: status({ state: 'ended' }), derive: status(behind) })).toEqual(['derive stalled']);
  });

  it('is not ready before its stages have started, nor when one has stopped', () => {
    expect(reasons({})).toEqual(['tail not_started']);
    expect(reasons({ tail: status() })).toEqual(['derive not_started']);
    const stopped = status({ state: 'stopped', error: { code: 'log_gap', message: 'position 7 is missing' } });
    expect(reasons({ tail: status(), derive: stopped })).toEqual(['derive stage_stopped']);
    expect(reasons({ tail: status(), derive: status(), price: stopped })).toEqual(['price stage_stopped']);
  });
});

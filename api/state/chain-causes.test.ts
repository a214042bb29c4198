import { describe, expect, it } from 'vitest';
import { DAEMONS, type DaemonStatus } from '../../schemas/daemon-status.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import type { ReportingStage } from '../../schemas/stages.ts';
import { causesOf, priceNotes, publisherNotes } from './chain-causes.ts';
import { readStageStatuses } from './stage-statuses.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const chain = { name: 'vrsc', blockSeconds: 60 };

const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

function status(changes: Partial<StageStatus> = {}): StageStatus {
  const fresh = { state: 'following', height: 10, targetHeight: 10, rate: 0, etaSeconds: null } as const;
  return { ...fresh, movedAt: ago(5), error: null, ...changes };
}
const waits = (code: string) => status({ state: 'waiting', error: { code, message: '' } });
const daemon = (code: string | null, height = 10): DaemonStatus => {
  return { height, peersHeight: height, fault: code === null ? null : { code, message: 'at 127.0.0.1:1' } };
};

interface Said {
  readonly stages?: Partial<Record<ReportingStage, StageStatus | undefined>>;
  readonly daemons?: readonly DaemonStatus[];
  readonly ages?: Partial<Record<string, number>>;
  readonly derived?: number | null;
  readonly priced?: number | null;
}

function statusesOf({ stages = {}, daemons, ages = {} }: Said) {
  const given = { tail: status(), derive: status(), price: status(), ...stages };
  const rows = Object.entries(given)
    .filter(([, said]) => said !== undefined)
    .map(([stage, said]) => ({ stage, chain: 'vrsc', status: JSON.stringify(said), age: ages[stage] ?? 1 }));
  const watched = { stage: DAEMONS, chain: 'vrsc', status: JSON.stringify({ daemons }), age: ages[DAEMONS] ?? 1 };
  return readStageStatuses(daemons ? [...rows, watched] : rows);
}

function causes(said: Said) {
  const { derived = 10, priced = 10 } = said;
  return causesOf(chain, { statuses: statusesOf(said), derived, priced }, NOW);
}
const codes = (said: Said) =>
  causes(said).map(({ reason: { code, stage, cause }, passes }) =>
    [stage, code, cause, passes ? 'passes' : null].filter((word) => word !== null).join(' '),
  );

describe('a chain', () => {
  it('is healthy while its stages follow a healthy daemon', () => {
    expect(codes({})).toEqual([]);
    expect(codes({ daemons: [daemon(null)] })).toEqual([]);
  });

  it('stalls when no block has arrived for 20 block times', () => {
    const tailSince = (movedAt: string | null) => codes({ stages: { tail: status({ movedAt }) } });
    expect(tailSince(ago(1199))).toEqual([]);
    expect(tailSince(ago(1201))).toEqual(['tail stalled']);
    expect(tailSince(null)).toEqual(['tail stalled']);
  });

  it('that has had no block yet is not called silent for 20 block times', () => {
    const detailSince = (movedAt: string | null) =>
      causes({ stages: { tail: status({ state: 'catching_up', movedAt }) } })[0]?.reason.detail;
    expect(detailSince(null)).toBe('tail of vrsc has had no block yet (catching_up)');
    expect(detailSince(ago(1201))).toBe(
      'tail of vrsc had its newest block at 2026-11-21T11:39:59.000Z, more than 1200 s ago (catching_up)',
    );
  });

  it('counts from the stored arrival after a start, or from the time of its newest block if that is later or the only one', () => {
    const tailSince = (movedAt: string | null, tipTime: string) =>
      codes({ stages: { tail: status({ movedAt, tipTime }) } });
    expect(tailSince(ago(30), ago(1e8))).toEqual([]);
    expect(tailSince(ago(1201), ago(1e8))).toEqual(['tail stalled']);
    expect(tailSince(ago(1201), ago(1199))).toEqual([]);
    expect(tailSince(null, ago(1199))).toEqual([]);
    expect(tailSince(null, ago(1201))).toEqual(['tail stalled']);
  });

  it('does not stall at the end of a recording', () => {
    const long = { movedAt: ago(100_000) };
    expect(codes({ stages: { tail: status({ state: 'ended', ...long }), derive: status(long) } })).toEqual([]);
  });

  it('stalls when arrived blocks are not derived', () => {
    const behind = { height: 9, movedAt: ago(1201) };
    expect(codes({ stages: { derive: status(behind) } })).toEqual(['derive stalled']);
    expect(codes({ stages: { derive: status({ ...behind, movedAt: ago(30) }) } })).toEqual([]);
    const ended = status({ state: 'ended' });
    expect(codes({ stages: { tail: ended, derive: status(behind) } })).toEqual(['derive stalled']);
  });

  it.each(['tail', 'derive', 'price'] as const)(
    'needs its stage %s to have started, to continue and to report',
    (stage) => {
      expect(codes({ stages: { [stage]: undefined } })).toEqual([`${stage} not_started`]);
      expect(codes({ stages: { [stage]: status({ state: 'starting' }) } })).toEqual([`${stage} not_started passes`]);
      const stopped = status({ state: 'stopped', error: { code: 'log_gap', message: '' } });
      expect(codes({ stages: { [stage]: stopped } })).toEqual([`${stage} stage_stopped log_gap`]);
      expect(codes({ stages: { [stage]: waits('postgres_full') } })).toEqual([`${stage} stage_waiting postgres_full`]);
      expect(codes({ ages: { [stage]: 9.9 } })).toEqual([]);
      expect(codes({ ages: { [stage]: 10.1 } })).toEqual([`${stage} not_reporting`]);
    },
  );

  it('reports that a stage is silent, and not its last status', () => {
    const stages = { derive: waits('postgres_full'), tail: status({ movedAt: ago(5000), targetHeight: 900 }) };
    expect(codes({ stages, ages: { derive: 60, tail: 60 } })).toEqual(['tail not_reporting', 'derive not_reporting']);
  });

  it('reports a fault of its daemon once, even if the tailer waits for it', () => {
    const stages = { tail: waits('daemon_unreachable') };
    expect(codes({ daemons: [daemon('daemon_timeout')], stages })).toEqual(['daemon_timeout']);
    expect(codes({ daemons: [daemon(null)], stages })).toEqual(['tail stage_waiting daemon_unreachable passes']);
    const stopped = status({ state: 'stopped', error: { code: 'wrong_chain', message: '' } });
    expect(codes({ daemons: [daemon('wrong_chain')], stages: { tail: stopped } })).toEqual(['wrong_chain']);
    expect(codes({ daemons: [daemon(null)], stages: { tail: stopped } })).toEqual(['tail stage_stopped wrong_chain']);
  });

  it('has no fault of its daemons while one of them is healthy', () => {
    expect(codes({ daemons: [daemon('daemon_timeout'), daemon(null)] })).toEqual([]);
    const [cause] = causes({ daemons: [daemon('daemon_timeout'), daemon('daemon_auth_failed')] });
    expect(cause?.reason.detail).toBe('daemon 1 of vrsc: daemon_timeout, daemon 2 of vrsc: daemon_auth_failed');
  });

  it('ignores daemons that are no longer watched', () => {
    const daemons = [daemon('daemon_timeout')];
    expect(codes({ daemons, ages: { tail: 60, daemons: 60 } })).toEqual(['tail not_reporting']);
  });

  it('marks a daemon that is a few blocks behind as a cause that often passes', () => {
    expect(codes({ daemons: [daemon('daemon_behind_peers')] })).toEqual(['daemon_behind_peers passes']);
    expect(codes({ stages: { tail: waits('daemon_behind') } })).toEqual(['tail stage_waiting daemon_behind passes']);
  });
});

describe('a chain that catches up', () => {
  const sync = (said: Said) => causes(said).find(({ reason }) => reason.code === 'syncing')?.reason;
  const following = { targetHeight: 3010, height: 3010 };

  it('is in step with its daemon up to five blocks behind', () => {
    expect(sync({ stages: { tail: status({ targetHeight: 15 }) } })).toBeUndefined();
    expect(sync({ stages: { tail: status({ targetHeight: 16 }) } })).toMatchObject({ stage: 'tail', etaSeconds: null });
    expect(sync({ daemons: [daemon(null, 15)] })).toBeUndefined();
    expect(sync({ daemons: [daemon(null, 16)] })).toMatchObject({ stage: 'tail' });
    expect(sync({ daemons: [daemon('wrong_chain', 900), daemon(null)] })).toBeUndefined();
  });

  it('estimates by lag and rate when its slowest stage will have caught up', () => {
    const tail = status({ ...following, state: 'catching_up', height: 2010, rate: 1000 });
    const derive = status({ ...following, state: 'catching_up', rate: 100 });
    const price = status({ ...following, state: 'catching_up', rate: 50 });
    const said = { stages: { tail, derive, price }, derived: 1010, priced: 510 };
    expect(sync(said)).toMatchObject({ stage: 'price', etaSeconds: 50 });
    expect(sync(said)?.detail).toBe('price of vrsc is 2500 blocks behind its daemon, at height 3010');
    const standing = { ...said, stages: { tail, derive: { ...derive, rate: 0 }, price } };
    expect(sync(standing)).toMatchObject({ stage: 'price', etaSeconds: null });
  });

  it('is not reported as syncing while the stage behind waits with an error, which is reported, or for another chain', () => {
    const tail = status(following);
    expect(codes({ stages: { tail, derive: waits('postgres_full') }, priced: 3010 })).toEqual([
      'derive stage_waiting postgres_full',
    ]);
    expect(codes({ stages: { tail, price: status({ state: 'waiting' }) }, derived: 3010 })).toEqual([]);
  });
});

it('prices that wait for another chain make a note that names that chain', () => {
  const chains = ['vrsc', 'chips', 'vdex'].map((name) => ({ name, blockSeconds: 60 }));
  const notes = (said: Said) => priceNotes(chains, statusesOf(said));
  const waiting = status({ state: 'waiting', waitsFor: 'chips', aheadBlocks: 9 });
  expect(notes({})).toEqual([]);
  expect(notes({ stages: { price: waits('postgres_full') } })).toEqual([]);
  expect(notes({ stages: { price: waiting }, ages: { price: 60 } })).toEqual([]);
  expect(notes({ stages: { price: status({ state: 'waiting' }) } })).toEqual([]);
  const detail = 'price of vrsc waits for the clock of chips: what is newer is provisional';
  expect(notes({ stages: { price: waiting } })).toMatchObject([
    { code: 'price_waits', chain: 'vrsc', stage: 'price', detail },
  ]);
});

it('silent and unreachable publishers make notes, others do not', () => {
  const daemon = { height: 1, peersHeight: 1, fault: null };
  const daemons = [
    daemon,
    ...(['heard', 'silent', 'unheard', 'unreachable'] as const).map((state) => ({
      ...daemon,
      publisher: { state, heardAt: null },
    })),
  ];
  const notes = publisherNotes([{ name: 'vrsc', blockSeconds: 60 }], statusesOf({ daemons }));
  expect(notes.map(({ code, detail }) => [code, detail.slice(0, 43)])).toEqual([
    ['publisher_silent', 'the ZMQ publisher of daemon 3 of vrsc is si'],
    ['publisher_unreachable', 'the ZMQ publisher of daemon 5 of vrsc is un'],
  ]);
});

import { Writable } from 'node:stream';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { metrics } from '../../infra/metrics.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createTailReport, type TailReport } from './tail-report.ts';
import { WrongChain } from './tailer-errors.ts';

let clock: number;
let lines: Record<string, unknown>[];
let statuses: StageStatus[];
let report: TailReport;

beforeEach(() => {
  clock = 0;
  lines = [];
  statuses = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(chunk));
      done();
    },
  });
  report = createTailReport({
    chain: 'vrsc',
    logger: pino(sink),
    status: (status) => statuses.push(status),
    now: () => clock,
  });
});

describe('createTailReport', () => {
  it('reports the rate over half a minute and the time left', () => {
    report.target(10_000);
    report.state('catching_up');
    for (let second = 1; second <= 60; second += 1) {
      clock = second * 1000;
      report.at({ height: second * 50 - 1, time: 1 }, second <= 30 ? 100 : 50);
    }
    const status = statuses.at(-1);
    expect(status).toMatchObject({ state: 'catching_up', height: 2999, targetHeight: 10_000 });
    expect(status?.rate).toBeCloseTo(50, -1);
    expect(status?.etaSeconds).toBeCloseTo(7001 / 50, -1);
    expect(status?.movedAt).toMatch(/^\d{4}-.*Z$/);
  });

  it('reports a status once a second and each change of state at once', () => {
    report.state('catching_up');
    for (let i = 0; i < 100; i += 1) {
      clock += 100;
      report.at({ height: i, time: 1 });
    }
    expect(statuses.length).toBeGreaterThanOrEqual(10);
    expect(statuses.length).toBeLessThanOrEqual(12);
    report.state('waiting', new WrongChain('why'));
    expect(statuses.at(-1)).toMatchObject({
      state: 'waiting',
      etaSeconds: null,
      error: { code: 'wrong_chain', message: 'why' },
    });
    report.state('following');
    expect(statuses.at(-1)).toMatchObject({ state: 'following', etaSeconds: 0, error: null });
  });

  it('stays following while a few blocks behind, and is catching up when many blocks behind', () => {
    report.at({ height: 100, time: 1 });
    report.target(100);
    report.state('following');
    report.target(103);
    report.state('catching_up');
    expect(statuses.at(-1)?.state).toBe('following');
    report.target(200);
    report.state('catching_up');
    expect(statuses.at(-1)?.state).toBe('catching_up');
  });

  it('logs a line every five seconds, one for each change and one for each rewind, at the right level', () => {
    report.target(1000);
    report.state('catching_up');
    for (let i = 0; i < 150; i += 1) {
      clock += 100;
      report.at({ height: i, time: 1 }, 1);
    }
    const progress = lines.filter((line) => line.msg === 'catching up');
    expect(progress).toHaveLength(4); // at 0, 5, 10 and 15 s
    lines.length = 0;
    report.state('waiting', new WrongChain('one'));
    report.state('waiting', new WrongChain('two'));
    report.rewound(140, 149);
    report.state('stopped', new WrongChain('three'));
    report.state('following');
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [40, 'tailer waiting'],
      [40, 'chain reorganised: rewound'],
      [50, 'tailer stopped'],
      [30, 'tailer following'],
    ]);
    expect(lines[1]).toMatchObject({ chain: 'vrsc', fromHeight: 149, toHeight: 140, depth: 9 });
  });

  it('reports when the newest block arrived, or its block time if it is from an earlier run', () => {
    report.at({ height: 7, time: 1_700_000_000 });
    expect(statuses.at(-1)).toMatchObject({ movedAt: null, tipTime: '2023-11-14T22:13:20.000Z' });
    const before = new Date().toISOString();
    report.at({ height: 8, time: 1_700_000_060 }, 1);
    report.at({ height: 8, time: 1_700_000_060 });
    report.state('following');
    expect(String(statuses.at(-1)?.movedAt) >= before).toBe(true);
    expect(statuses.at(-1)).not.toHaveProperty('tipTime');
  });

  it('measures the depth of rewinds and the time of the newest block', async () => {
    metrics.rewindDepth.reset();
    report.at({ height: 100, time: 1_700_000_000 }, 101);
    report.rewound(96, 100);
    const sum = (await metrics.rewindDepth.get()).values.find(({ metricName }) => metricName?.endsWith('_sum'));
    expect(sum).toMatchObject({ labels: { chain: 'vrsc' }, value: 4 });
    const time = (await metrics.tipTime.get()).values.find(({ labels }) => labels.chain === 'vrsc');
    expect(time?.value).toBe(1_700_000_000);
  });
});

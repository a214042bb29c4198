import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { HealthCause } from './chain-causes.ts';
import { createStandingCauses, type StandingCauses } from './standing-causes.ts';

let clock: number;
let standing: StandingCauses;
beforeEach(() => {
  clock = 0;
  standing = createStandingCauses(() => clock);
  standing.look([]);
});

function cause(code: string, { subject = 'vrsc daemon', passes = false } = {}): HealthCause {
  const reason = { code, chain: 'vrsc', stage: null, cause: null, detail: '', etaSeconds: null };
  return { subject, reason, passes };
}

/** Returns the reasons after a look `seconds` later. */
function looked(seconds: number, ...causes: readonly HealthCause[]): string[] {
  clock += seconds * 1000;
  standing.look(causes);
  return standing.reasons().map(({ code, goneSince }) => (goneSince === null ? code : `${code} gone`));
}

describe('a cause', () => {
  const DEAD = cause('daemon_unreachable');

  it('counts at once, and until it has been gone for 10 s', () => {
    expect(looked(0, DEAD)).toEqual(['daemon_unreachable']);
    expect(looked(60, DEAD)).toEqual(['daemon_unreachable']);
    expect(looked(1)).toEqual(['daemon_unreachable gone']);
    expect(looked(9.9)).toEqual(['daemon_unreachable gone']);
    expect(looked(0.1)).toEqual([]);
  });

  it('that returns within 10 s counts until it has been gone for 10 s again', () => {
    looked(0, DEAD);
    looked(1);
    expect(looked(9, DEAD)).toEqual(['daemon_unreachable']);
    looked(1);
    expect(looked(9.9)).toEqual(['daemon_unreachable gone']);
    expect(looked(0.2)).toEqual([]);
  });

  it('replaces another one with the same subject', () => {
    looked(0, DEAD);
    expect(looked(1, cause('daemon_timeout'))).toEqual(['daemon_timeout']);
    expect(looked(1)).toEqual(['daemon_timeout gone']);
    expect(looked(0, cause('postgres_full', { subject: 'postgres' }))).toEqual([
      'daemon_timeout gone',
      'postgres_full',
    ]);
  });

  it('that often passes counts once it has lasted for 3 s in a row', () => {
    const lagging = cause('syncing', { passes: true });
    expect(looked(0, lagging)).toEqual([]);
    expect(looked(2.9, lagging)).toEqual([]);
    expect(looked(0.1)).toEqual([]);
    expect(looked(0, lagging)).toEqual([]);
    expect(looked(3, lagging)).toEqual(['syncing']);
    expect(looked(1)).toEqual(['syncing gone']);
    expect(looked(9, lagging)).toEqual(['syncing']);
  });

  it('that exists at the first look counts at once, because it may have lasted for long', () => {
    standing = createStandingCauses(() => clock);
    expect(looked(0, cause('syncing', { passes: true }))).toEqual(['syncing']);
  });
});

it('a fault that is never gone for 10 s is reported once and cleared once, however it flaps', () => {
  const stretch = fc.record({ isBad: fc.boolean(), seconds: fc.double({ min: 0.1, max: 9.9, noNaN: true }) });
  const story = fc.array(stretch, { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(story, (stretches) => {
      clock = 0;
      standing = createStandingCauses(() => clock);
      const counts = [looked(0).length];
      counts.push(looked(0, cause('daemon_timeout')).length);
      let away = 0;
      for (const { isBad, seconds } of stretches) {
        away = isBad ? 0 : away + seconds;
        const bad = isBad || away >= 10;
        if (bad) away = 0;
        counts.push(looked(seconds, ...(bad ? [cause('daemon_unreachable')] : [])).length);
      }
      for (let second = 0; second < 30; second += 1) counts.push(looked(1).length);
      const changes = counts.filter((count, index) => index > 0 && count !== counts[index - 1]);
      expect(changes).toEqual([1, 0]);
    }),
  );
});

/** Formats times the same way for every reader, so that they can be compared. */
import type { TimeZone } from '../state/settings.ts';

const PARTS = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const;

const formats: Readonly<Record<TimeZone, Intl.DateTimeFormat>> = {
  local: new Intl.DateTimeFormat('sv-SE', PARTS),
  utc: new Intl.DateTimeFormat('sv-SE', { ...PARTS, timeZone: 'UTC' }),
};

/** `2026-11-18 08:14:03`, followed by `UTC` in that zone. */
export function shownTime(milliseconds: number, zone: TimeZone): string {
  return `${formats[zone].format(milliseconds)}${zone === 'utc' ? ' UTC' : ''}`;
}

const STEPS = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [86_400, 3600, 'h'],
  [Number.POSITIVE_INFINITY, 86_400, 'd'],
] as const;

/** `42 s`, `3 min`, `5 h`, `12 d`. */
export function shownSpan(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [, size, unit] = STEPS.find(([below]) => seconds < below) ?? STEPS[3];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** `text` is a time of an answer: seconds since the epoch, or ISO 8601. */
export function millisecondsOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text);
}

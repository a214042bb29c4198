/** Settings of the reader, kept in the browser. */
import { effect, type Signal, signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export const TIMES = ['local', 'utc'] as const;

export type Theme = (typeof THEMES)[number];
export type TimeZone = (typeof TIMES)[number];

function kept<Value extends string>(name: string, allowed: readonly [Value, ...Value[]]): Signal<Value> {
  const text = read(name);
  const chosen = signal(allowed.find((value) => value === text) ?? allowed[0]);
  effect(() => write(name, chosen.value));
  return chosen;
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // storage is off: the setting lasts as long as this tab
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is off.
  }
}

export const theme = kept<Theme>('theme', THEMES);
export const timeZone = kept<TimeZone>('times', TIMES);
export const shortcutsOn = kept('shortcuts', ['on', 'off']);

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

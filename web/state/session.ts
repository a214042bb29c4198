/**
 * The identities that are logged in, in this tab. Tokens are kept only in its sessionStorage, until they expire. Several identities can be
 * logged in; one of them is the reader, and pays.
 */
import { computed, effect, signal } from '@preact/signals';
import { now } from './clock.ts';

export interface Session {
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  /** Fully qualified name with @. */
  readonly identity: string;
  readonly identityAddress: string;
  readonly chain: string;
}

interface Kept {
  readonly sessions: readonly Session[];
  /** Token of the reader; null when none is chosen. */
  readonly reader: string | null;
}

const STORED_AS = 'sessions';
const MEMBERS = ['token', 'expiresAt', 'identity', 'identityAddress', 'chain'] as const satisfies (keyof Session)[];
const NOBODY: Kept = { sessions: [], reader: null };

const kept = signal<Kept>(read());
/** All that are open in this tab. */
export const sessions = computed(() => kept.value.sessions);
/** Null when no identity is logged in, or none is chosen. */
export const session = computed(() => kept.value.sessions.find(({ token }) => token === kept.value.reader) ?? null);
/** A session that ended without a logout; shown to the reader until the next login. */
export const endedSession = signal<Session | null>(null);
/** Why a logout failed. */
export const logoutTrouble = signal<string | null>(null);

function read(): Kept {
  const value = parsed(stored());
  return isKept(value) ? value : NOBODY;
}

function stored(): string {
  try {
    return sessionStorage.getItem(STORED_AS) ?? '';
  } catch {
    return ''; // storage is off
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // nothing is stored, or not by this page
  }
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null || !('sessions' in value) || !('reader' in value)) return false;
  return Array.isArray(value.sessions) && value.sessions.every(isSession);
}

function isSession(value: unknown): value is Session {
  return (
    typeof value === 'object' && value !== null && MEMBERS.every((name) => typeof Reflect.get(value, name) === 'string')
  );
}

function keep(next: Kept): void {
  kept.value = next;
  try {
    if (next.sessions.length === 0) sessionStorage.removeItem(STORED_AS);
    else sessionStorage.setItem(STORED_AS, JSON.stringify(next));
  } catch {
    // Storage is off: the sessions last as long as this document.
  }
}

/** Adds a session as the reader; it replaces a session of the same identity. */
export function openSession(opened: Session): void {
  const { token, expiresAt, identity, identityAddress, chain } = opened;
  const others = kept.value.sessions.filter((one) => one.chain !== chain || one.identityAddress !== identityAddress);
  endedSession.value = null;
  logoutTrouble.value = null;
  keep({ sessions: [...others, { token, expiresAt, identity, identityAddress, chain }], reader: token });
}

/** Makes another logged-in identity the reader. */
export function chooseSession(token: string): void {
  endedSession.value = null;
  keep({ ...kept.value, reader: token });
}

/** No other identity becomes the reader, so that an action begun as one identity is not finished as another. */
export function forgetSession(token: string): void {
  const { sessions: all, reader } = kept.value;
  keep({ sessions: all.filter((one) => one.token !== token), reader: reader === token ? null : reader });
}

/** Called when the service no longer accepts the token. */
export function sessionEnded(token: string): void {
  const ended = kept.value.sessions.find((one) => one.token === token);
  if (!ended) return;
  if (kept.value.reader === token) endedSession.value = ended;
  forgetSession(token);
}

/** Milliseconds until a session ends. */
export const msLeft = ({ expiresAt }: Session): number => Date.parse(expiresAt) - now.value;

effect(() => {
  for (const one of kept.value.sessions) if (msLeft(one) <= 0) sessionEnded(one.token);
});

/** The answer, and the place in it, that the values of a part of the page belong to. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { isNumberText } from '../../client/exact-json.ts';

interface ScopeState {
  readonly data: unknown;
  /** Path and query of the request. */
  readonly src: string;
  /** X-Chain-State of the answer. */
  readonly chainState: string | null;
  /** JSON pointer that relative pointers start from. */
  readonly base: string;
}

const Scope = createContext<ScopeState>({ data: null, src: '', chainState: null, base: '' });

/** Resolves `at` relative to the scope, or from the root when it begins with a slash; '' is the scope itself. */
export function usePointer(at: string): string {
  const { base } = useContext(Scope);
  if (at.startsWith('/')) return at;
  return at === '' ? base : `${base}/${at}`;
}

export function ScopeRoot({
  children,
  ...answer
}: Omit<ScopeState, 'base'> & { readonly children: ComponentChildren }) {
  return <Scope.Provider value={{ ...answer, base: '' }}>{children}</Scope.Provider>;
}

/** The answer's source, for a part of a panel that the tests compare by itself. */
export function useSource() {
  const { src, chainState } = useContext(Scope);
  return { 'data-src': src, 'data-chain-state': chainState ?? undefined };
}

export function At({ at, children }: { readonly at: string; readonly children: ComponentChildren }) {
  return <Scope.Provider value={{ ...useContext(Scope), base: usePointer(at) }}>{children}</Scope.Provider>;
}

export type Leaf =
  | { readonly kind: 'number' | 'string'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'nested'; readonly value: object }
  | { readonly kind: 'absent' };

/** Escapes a member name for a JSON pointer (RFC 6901). */
export const token = (name: string | number) => String(name).replaceAll('~', '~0').replaceAll('/', '~1');

/** The value at a pointer. */
export function useLeaf(pointer: string): Leaf {
  const { data } = useContext(Scope);
  return leafAt(data, pointer);
}

function leafAt(data: unknown, pointer: string): Leaf {
  let holder: object | null = null;
  let key = '';
  let value = data;
  for (const part of pointer.split('/').slice(1)) {
    key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return { kind: 'absent' };
    holder = value;
    value = Reflect.get(value, key);
  }
  if (value === null) return { kind: 'null' };
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (typeof value === 'object') return { kind: 'nested', value };
  if (typeof value === 'number') return { kind: 'number', text: String(value) };
  const isNumber = holder !== null && isNumberText(holder, key);
  return { kind: isNumber ? 'number' : 'string', text: String(value) };
}

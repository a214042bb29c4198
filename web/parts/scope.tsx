/** Where in which answer the values below stand. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { isNumberText } from '../../client/exact-json.ts';

interface ScopeState {
  readonly data: unknown;
  /** Path and query as asked. */
  readonly src: string;
  /** X-Chain-State of the answer. */
  readonly chainState: string | null;
  /** JSON pointer of what relative ones begin at. */
  readonly base: string;
}

const Scope = createContext<ScopeState>({ data: null, src: '', chainState: null, base: '' });

/** Relative to the scope, or from the root with a slash in front; '' is the scope itself. */
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

/** The answer's source, for a part of a panel that is compared by itself. */
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

/** A member's name in a pointer (RFC 6901). */
export const token = (name: string | number) => String(name).replaceAll('~', '~0').replaceAll('/', '~1');

/** What stands there. */
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

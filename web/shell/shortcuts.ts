/**
 * Keyboard shortcuts: `/` and Ctrl+K focus the search, `g` and a letter open a view. The footer lists them, and switches those without
 * Ctrl off for readers whose speech input or keyboard triggers them by accident.
 */
import { hrefOf } from '../addresses.ts';
import { navigate, place } from '../state/place.ts';
import { chainNames } from '../state/service.ts';
import { shortcutsOn } from '../state/settings.ts';
import { focusSearch } from './search.tsx';

const chain = () => place.value?.parts.chain ?? chainNames[0] ?? '';

interface Target {
  readonly words: string;
  readonly href: () => string;
}

/** By the letter after `g`. */
export const TARGETS: Readonly<Record<string, Target>> = {
  l: { words: 'Live', href: () => hrefOf('live', {}) },
  m: { words: 'Market', href: () => hrefOf('market', {}) },
  c: { words: 'Conversions', href: () => hrefOf('conversions', {}) },
  b: { words: 'Blocks', href: () => hrefOf('blocks', { chain: chain() }) },
};

let awaitsTarget = false;

export function startShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (document.querySelector('dialog[open]') !== null) return; // leaving would lose what it shows only once
    if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      focusSearch();
      return;
    }
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
    if (isTyping || shortcutsOn.value === 'off' || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = awaitsTarget ? TARGETS[event.key] : undefined;
    awaitsTarget = event.key === 'g';
    if (event.key === '/') {
      event.preventDefault();
      focusSearch();
    } else if (target) navigate(target.href());
  });
}

/** Keyboard shortcuts: `/` and Ctrl+K focus the search, `g` and a letter open a view. A reader can switch them off. */
import { hrefOf } from '../addresses.ts';
import { navigate, place } from '../state/place.ts';
import { chainNames } from '../state/service.ts';
import { shortcutsOn } from '../state/settings.ts';
import { focusSearch } from './search.tsx';

const chain = () => place.value?.parts.chain ?? chainNames[0] ?? '';

/** The letters after `g`. */
const TARGETS: Readonly<Record<string, () => string>> = {
  l: () => hrefOf('live', {}),
  m: () => hrefOf('market', {}),
  c: () => hrefOf('conversions', {}),
  b: () => hrefOf('blocks', { chain: chain() }),
};

let awaitsTarget = false;

export function startShortcuts(): void {
  document.addEventListener('keydown', (event) => {
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
    } else if (target) navigate(target());
  });
}

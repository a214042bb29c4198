/** Search by height, hash, address or name, fully usable with the keyboard. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Text } from '../parts/text.tsx';
import type { Answer } from '../state/answers.ts';
import { isLow } from '../state/meter.ts';
import { navigate, visit } from '../state/place.ts';
import { askNames, blocksAt, destinationOf, mayBeName, named } from '../state/search.ts';

/** How long the reader must pause typing before names are requested. */
const PAUSE_MS = 250;

export function Search() {
  const [typed, setTyped] = useState('');
  const [isOpen, setOpen] = useState(false);
  /** Null while no suggestion is chosen; Enter then searches for the typed text. */
  const [active, setActive] = useState<number | null>(null);
  const latest = useRef('');
  const list = useId();
  const text = typed.trim();
  const names = useNames(text);
  const suggestions = [...blocksAt(text), ...(names ? named(names, text) : [])];
  const leave = (href: string) => {
    setOpen(false);
    setTyped('');
    navigate(href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { length } = suggestions;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (length === 0) return;
      const down = active === null ? 0 : (active + 1) % length;
      const up = ((active ?? 0) + length - 1) % length;
      setActive(event.key === 'ArrowDown' ? down : up);
      setOpen(true);
    } else if (event.key === 'Escape') {
      setOpen(false);
      setActive(null);
    }
  };
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    const chosen = isOpen && active !== null ? suggestions[active] : undefined;
    if (chosen) leave(chosen.href);
    else if (text !== '') {
      setOpen(false); // suggestions that arrive now would cover what the reader clicks next
      const from = visit.peek();
      const href = await destinationOf(text);
      // Otherwise the reader has typed something else or navigated away meanwhile.
      if (latest.current === typed && visit.peek() === from) leave(href);
    }
  };
  const isShown = isOpen && suggestions.length > 0;
  return (
    <search>
      <form onSubmit={onSubmit}>
        <input
          id="search"
          type="text"
          role="combobox"
          aria-label="Search"
          aria-expanded={isShown}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={isShown && active !== null ? `${list}-${active}` : undefined}
          placeholder="Block, hash, address, name"
          autocomplete="off"
          spellcheck={false}
          maxLength={80}
          value={typed}
          onInput={(event) => {
            latest.current = event.currentTarget.value;
            setTyped(event.currentTarget.value);
            setActive(null);
            setOpen(true);
          }}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        <div id={list} role="listbox" aria-label="Suggestions" hidden={!isShown}>
          {suggestions.map(({ label, detail, href }, index) => (
            <div
              key={href}
              id={`${list}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              onMouseDown={(event) => {
                event.preventDefault();
                if (event.button === 0) leave(href);
              }}
            >
              <Text text={label} isName /> <small class="muted">{detail}</small>
            </div>
          ))}
        </div>
      </form>
    </search>
  );
}

/** The answer for the typed text; until it arrives, the answer for the previous text. */
function useNames(text: string): Answer<'/api/search/suggest'> | null {
  const [names, setNames] = useState<Answer<'/api/search/suggest'> | null>(null);
  useEffect(() => {
    if (!mayBeName(text) || isLow.value) {
      setNames(null);
      return undefined;
    }
    const timer = setTimeout(() => setNames(askNames(text)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return names;
}

export const focusSearch = () => document.getElementById('search')?.focus();

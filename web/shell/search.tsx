/** Search by height, hash, address or name, with the keyboard alone. */
import { useId, useRef, useState } from 'preact/hooks';
import { hrefOf } from '../addresses.ts';
import { navigate, place } from '../state/place.ts';
import { chainNames } from '../state/service.ts';

interface Suggestion {
  readonly label: string;
  readonly href: string;
}

const HEIGHT = /^\d{1,9}$/;
const HASH = /^[0-9a-f]{64}$/i;

/** What a text can mean without asking anybody. */
function meanings(text: string): Suggestion[] {
  const here = place.value?.parts.chain;
  const chains = here === undefined ? chainNames : [here, ...chainNames.filter((name) => name !== here)];
  if (HEIGHT.test(text)) {
    return chains.map((chain) => ({
      label: `Block ${text} of ${chain}`,
      href: hrefOf('block', { chain, block: text }),
    }));
  }
  if (HASH.test(text)) {
    const txid = text.toLowerCase();
    return chains.map((chain) => ({ label: `Transaction of ${chain}`, href: hrefOf('tx', { chain, txid }) }));
  }
  return [];
}

export function Search() {
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const found = meanings(text.trim());
  const go = (suggestion: Suggestion | undefined) => {
    if (!suggestion) return;
    setOpen(false);
    setText('');
    navigate(suggestion.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : found.length - 1;
      setActive((active + step) % Math.max(1, found.length));
      setOpen(true);
    } else if (event.key === 'Escape') setOpen(false);
  };
  const isShown = isOpen && found.length > 0;
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          go(found[active]);
        }}
      >
        <input
          ref={input}
          id="search"
          type="text"
          role="combobox"
          aria-label="Search"
          aria-expanded={isShown}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={isShown ? `${list}-${active}` : undefined}
          placeholder="Height or transaction"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setActive(0);
            setOpen(true);
          }}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        <div id={list} role="listbox" aria-label="Suggestions" hidden={!isShown}>
          {found.map((suggestion, index) => (
            <div
              key={suggestion.href}
              id={`${list}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              onMouseDown={(event) => {
                event.preventDefault();
                go(suggestion);
              }}
            >
              {suggestion.label}
            </div>
          ))}
        </div>
      </form>
    </search>
  );
}

export const focusSearch = () => document.getElementById('search')?.focus();

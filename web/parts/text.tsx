/** Shows text that comes from the chain. */
import { useState } from 'preact/hooks';
import { hasMixedScripts, inertParts } from '../text/inert.ts';

const FIRST_CHARACTERS = 16 * 1024;
const STEP_CHARACTERS = 200 * 1024;
/** Texts this short fit anywhere; a table would otherwise break them instead of growing a little wider. */
const SHORT = /^[!-~]{1,14}$/;

interface TextProps {
  readonly text: string;
  /** Warns of mixed scripts, so that the reader does not take the name for a similar one. */
  readonly isName?: boolean;
  readonly keepsLines?: boolean;
}

/** Shows text inert, and only as much at once as a browser renders without a pause. */
export function Text({ text, isName = false, keepsLines = false }: TextProps) {
  const [most, setMost] = useState(FIRST_CHARACTERS);
  const rest = text.length - most;
  const parts = inertParts(text.slice(0, most), { keepsLines });
  return (
    <>
      <bdi class={keepsLines ? 'text lines' : SHORT.test(text) ? 'text short' : 'text'}>
        {parts.map((part) => (part.isEscape ? <span class="escape">{part.text}</span> : part.text))}
      </bdi>
      {isName && hasMixedScripts(text) && <span class="badge warn">mixed scripts</span>}
      {rest > 0 && (
        <button type="button" class="more" onClick={() => setMost(most + STEP_CHARACTERS)}>
          Show more (<span data-derived="rest">{Math.ceil(rest / 1024)}</span> kB left)
        </button>
      )}
    </>
  );
}

const ENDS = 8;

/** Renders an id in full, for copying and searching; the style sheet hides the middle. */
export function Id({ id }: { readonly id: string }) {
  if (id.length <= 2 * ENDS + 4) return <span class="id">{id}</span>;
  return (
    <span class="id">
      <span class="id-head">{id.slice(0, -ENDS)}</span>
      <span class="id-tail">{id.slice(-ENDS)}</span>
    </span>
  );
}

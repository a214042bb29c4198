/** A button that copies text to the clipboard. */
import { useState } from 'preact/hooks';

const SHOWN_MS = 1500;

export function Copy({ label, text }: { readonly label: string; readonly text: string | (() => string) }) {
  const [said, say] = useState<string | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      say('Copied');
    } catch {
      say('The browser did not allow it'); // over plain HTTP there is no clipboard
    }
    setTimeout(() => say(null), SHOWN_MS);
  };
  return (
    <>
      <button type="button" aria-label={label} onClick={copy}>
        {said ?? label}
      </button>
      {/* The button's name stays the same, so a screen reader hears the outcome from here. */}
      <span role="status" class="hidden">
        {said}
      </span>
    </>
  );
}

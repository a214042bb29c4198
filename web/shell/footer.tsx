/** The bottom of every view: the remaining allowance, the state of the stream, and the requests of this page. */
import { useState } from 'preact/hooks';
import { needsSession } from '../calls.ts';
import { Copy } from '../parts/copy.tsx';
import { now } from '../state/clock.ts';
import { cursor, notice, sequence, streamState } from '../state/live.ts';
import { allowance, asked } from '../state/meter.ts';
import { service } from '../state/service.ts';
import { shortcutsOn } from '../state/settings.ts';
import { TARGETS } from './shortcuts.ts';

export function Footer() {
  return (
    <footer class="bottom">
      <Credits />
      <span>
        Stream {streamState}, message {sequence}
        {notice.value !== null && ` · ${notice.value}`}
        {cursor.value !== null && (
          <>
            {' '}
            <Copy label="Copy cursor" text={cursor.value} />
          </>
        )}
      </span>
      <CallsOfPage />
      <Shortcuts />
      <span>
        verustream {service.version} · <a href="/api/docs">API</a>
      </span>
    </footer>
  );
}

/** Rendered only while open: the list changes with each request, and most readers never open it. */
function CallsOfPage() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="asked" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What this page asked</summary>
      {isOpen && (
        <ol>
          {asked.value.toReversed().map(({ url, credits, at }) => (
            <li key={`${at} ${url}`}>
              {needsSession(url) ? url : <a href={url}>{url}</a>} {credits} credits
            </li>
          ))}
        </ol>
      )}
    </details>
  );
}

function Shortcuts() {
  return (
    <details>
      <summary>Keyboard</summary>
      <label>
        <input
          type="checkbox"
          checked={shortcutsOn.value === 'on'}
          onChange={({ currentTarget: { checked } }) => {
            shortcutsOn.value = checked ? 'on' : 'off';
          }}
        />{' '}
        Shortcuts of single keys
      </label>
      <ul>
        <li>
          <kbd>/</kbd> Search, also <kbd>Ctrl</kbd> <kbd>K</kbd>
        </li>
        {Object.entries(TARGETS).map(([letter, { words }]) => (
          <li key={letter}>
            <kbd>g</kbd> <kbd>{letter}</kbd> {words}
          </li>
        ))}
      </ul>
    </details>
  );
}

const inFull = (count: number) => count.toLocaleString('en-US');

function Credits() {
  const { value } = allowance;
  if (value === null) return <span>Credits not used yet</span>;
  const seconds = Math.max(0, Math.ceil((value.wholeAt - now.value) / 1000));
  const left = seconds === 0 ? value.limit : value.left;
  return (
    <span>
      <meter min={0} max={value.limit} low={value.limit * 0.2} value={left} aria-label="Credits left" /> {inFull(left)}{' '}
      of {inFull(value.limit)} credits{left < value.limit && `, all back in ${seconds} s`}
    </span>
  );
}

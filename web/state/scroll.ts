/**
 * Keeps the scroll position of each step of the history, and returns to it. The browser would do that before the view has its height, and
 * so end at the top of every list.
 */

/** A scroll position is kept once the reader has stopped scrolling. */
const RESTS_MS = 400;
/** For so long the position is restored again whenever parts of the view arrive. */
const PATIENCE_MS = 2_000;
/** From the first of these on, the position is the reader's. */
const INPUTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

let resting: ReturnType<typeof setTimeout> | undefined;
let restoring: AbortController | null = null;

/** Called before the page leaves a step of the history. */
export function keepScroll(): void {
  clearTimeout(resting);
  if (restoring === null) history.replaceState({ top: scrollY }, '');
  restoring?.abort();
}

/** Also restores the position of a document that was loaded again. */
export function startScroll(): void {
  history.scrollRestoration = 'manual';
  restore();
  addEventListener('popstate', restore);
  addEventListener('scroll', () => {
    clearTimeout(resting);
    if (restoring === null) resting = setTimeout(keepScroll, RESTS_MS);
  });
}

function restore(): void {
  clearTimeout(resting);
  restoring?.abort();
  if (location.hash !== '') return; // a part of the same view, to which the browser has scrolled
  const top = topOf(history.state);
  scrollTo(0, top);
  if (top === 0) return;
  const restored = new AbortController();
  const { signal } = restored;
  restoring = restored;
  const observer = new ResizeObserver(() => scrollTo(0, top));
  observer.observe(document.body);
  const timer = setTimeout(() => restored.abort(), PATIENCE_MS);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    observer.disconnect();
    if (restoring === restored) restoring = null;
  });
  for (const input of INPUTS) addEventListener(input, () => restored.abort(), { signal, passive: true });
}

function topOf(state: unknown): number {
  const top = typeof state === 'object' && state !== null && 'top' in state ? Number(state.top) : 0;
  return Number.isFinite(top) ? top : 0;
}

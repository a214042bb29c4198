/** Loads the drawing of charts when the first one is shown. */
let loading: Promise<typeof import('./plot.ts')> | null = null;

export function loadPlot(): Promise<typeof import('./plot.ts')> {
  loading ??= inEnglish(() => import('./plot.ts'));
  return loading;
}

/**
 * uPlot hands `navigator.language` to Intl while it loads, which throws where that is no language tag (`en-US@posix`). The page
 * writes every number in one form, so it loads under that one.
 */
async function inEnglish<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
  try {
    return await load();
  } finally {
    Reflect.deleteProperty(navigator, 'language'); // the browser's own shows again
  }
}

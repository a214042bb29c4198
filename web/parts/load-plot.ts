/** Loads the drawing of charts when the first one is shown. */
let loading: Promise<typeof import('./plot.ts')> | null = null;

/** @throws where the file cannot be had: without a network, or after an upgrade of the service */
export function loadPlot(): Promise<typeof import('./plot.ts')> {
  loading ??= inEnglish(() => import('./plot.ts')).catch((error: unknown) => {
    loading = null; // the next chart tries again
    throw error;
  });
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

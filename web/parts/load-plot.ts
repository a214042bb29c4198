/** Loads the chart drawing code when the first chart is shown. */
let loading: Promise<typeof import('./plot.ts')> | null = null;

/** @throws when the file cannot be loaded: offline, or after an upgrade of the service */
export function loadPlot(): Promise<typeof import('./plot.ts')> {
  loading ??= inEnglish(() => import('./plot.ts')).catch((error: unknown) => {
    loading = null; // the next chart tries again
    throw error;
  });
  return loading;
}

/**
 * uPlot passes `navigator.language` to Intl while it loads, which throws when that is not a language tag (`en-US@posix`). The page
 * formats all numbers as en-US, so uPlot loads with that language.
 */
async function inEnglish<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
  try {
    return await load();
  } finally {
    Reflect.deleteProperty(navigator, 'language'); // uncovers the browser's own property
  }
}

/**
 * Loads a view's module. Where the service does not answer, it waits for it: a new document would be an error page of the browser. After
 * an upgrade of the service the file of an open tab is gone: one new document, never two, and none where storage is off.
 */
const MARK = 'reloaded-for';
const RETRY_MS = 2_000;

export interface LoadingOptions {
  /** Ends with the reader's visit. */
  readonly signal: AbortSignal;
  /** Hears that the service does not answer. */
  readonly onOffline: () => void;
}

/** @returns null if the signal has aborted or the document is loaded again. @throws where the file is missing and a new document does not help */
export async function loadView<Module>(load: () => Promise<Module>, options: LoadingOptions): Promise<Module | null> {
  const { signal, onOffline } = options;
  for (;;) {
    try {
      const module = await load();
      unmark();
      return module;
    } catch (error) {
      if (await answers()) {
        if (signal.aborted) return null; // another view has the document now
        if (!mark()) throw error;
        location.reload();
        return null;
      }
    }
    onOffline();
    do await pause(signal);
    while (!signal.aborted && !(await answers()));
    if (signal.aborted) return null;
  }
}

/** @returns whether the document may be loaded again */
function mark(): boolean {
  try {
    if (sessionStorage.getItem(MARK) !== null) return false;
    sessionStorage.setItem(MARK, location.pathname);
    return true;
  } catch {
    return false; // storage is off: the next document would not know of this one
  }
}

function unmark(): void {
  try {
    sessionStorage.removeItem(MARK);
  } catch {
    // Storage is off: there is no mark.
  }
}

/** The document costs no credits. */
const answers = () =>
  fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  );

/** Shorter where the network comes back. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, RETRY_MS);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}

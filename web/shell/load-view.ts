/**
 * Loads a view's module. While the service does not answer, it waits instead of reloading, because a reload would show the browser's error
 * page. After an upgrade of the service the file that an open tab needs is gone: then the document is reloaded once, never twice, and not
 * at all where storage is off.
 */
const MARK = 'reloaded-for';
const RETRY_MS = 2_000;

export interface LoadingOptions {
  /** Aborted when the reader leaves the view. */
  readonly signal: AbortSignal;
  /** Called when the service does not answer. */
  readonly onOffline: () => void;
}

/** @returns null if the signal has aborted or the document is reloading. @throws where the file is missing and a reload does not help */
export async function loadView<Module>(load: () => Promise<Module>, options: LoadingOptions): Promise<Module | null> {
  const { signal, onOffline } = options;
  for (;;) {
    try {
      const module = await load();
      unmark();
      return module;
    } catch (error) {
      if (await answers()) {
        if (signal.aborted) return null; // the reader has moved on to another view
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

/** @returns whether the document may be reloaded */
function mark(): boolean {
  try {
    if (sessionStorage.getItem(MARK) !== null) return false;
    sessionStorage.setItem(MARK, location.pathname);
    return true;
  } catch {
    return false; // storage is off: the reloaded document would not know that it was reloaded
  }
}

function unmark(): void {
  try {
    sessionStorage.removeItem(MARK);
  } catch {
    // Storage is off, so there is no mark.
  }
}

/** A request for the document costs no credits. */
const answers = () =>
  fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  );

/** Waits RETRY_MS, or until the browser is online again or the signal aborts. */
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

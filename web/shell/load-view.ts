/** Loads a view's module. After an upgrade of the service the file of an open tab is gone: one new document, never two. */
const MARK = 'reloaded-for';

export async function loadView<Module>(load: () => Promise<Module>): Promise<Module | null> {
  try {
    const module = await load();
    sessionStorage.removeItem(MARK);
    return module;
  } catch (error) {
    if (sessionStorage.getItem(MARK) !== null) throw error;
    sessionStorage.setItem(MARK, location.pathname);
    location.reload();
    return null;
  }
}

/**
 * Preact keeps of each component the tree that it had when its parent was drawn last, with the elements that were removed since. What a
 * component has replaced is let go here, so that a tab that lists what comes holds what it shows and no more.
 */
import { type Component, options, type VNode } from 'preact';

/** As the build of Preact names them: what a component was drawn into, and the component. */
interface Drawn extends VNode {
  __k: readonly VNode[] | null;
  __c: Component | null;
}

const newest = new WeakMap<Component, Drawn>();

export function letGoOfOldTrees(): void {
  const { diffed } = options;
  options.diffed = (vnode) => {
    const drawn = vnode as Drawn;
    const component = drawn.__c;
    if (component) {
      const old = newest.get(component);
      if (old && old !== drawn) old.__k = null;
      newest.set(component, drawn);
    }
    diffed?.(vnode);
  };
}

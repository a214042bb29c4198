/**
 * Preact keeps each component's tree as of its parent's last render, including elements that were removed since. This module releases the
 * trees that a component has replaced, so that a tab with changing lists keeps only what it shows.
 */
import { type Component, options, type VNode } from 'preact';

/** Property names of Preact's minified build: the rendered children, and the component. */
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

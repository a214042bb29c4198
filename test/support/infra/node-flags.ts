/** With what a test starts a script of this project as a process of its own: as infra/launch/run.mjs does. */
export const NODE_FLAGS: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('../../../infra/launch/stripped-types.mjs', import.meta.url).href,
];

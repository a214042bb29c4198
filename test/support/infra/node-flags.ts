/**
 * With what test processes, and scripts of this project that a test starts, run: as infra/launch/run.mjs does, but V8's young space
 * begins larger. They live for minutes: docs/decisions/0132-v8-in-the-tests.md.
 */
export const NODE_FLAGS: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('../../../infra/launch/stripped-types.mjs', import.meta.url).href,
  '--min-semi-space-size=16',
];

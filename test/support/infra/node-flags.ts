/**
 * Node flags of test processes and of project scripts that tests start: those of infra/launch/run.mjs, but with a larger initial young
 * generation, because these processes live for minutes: docs/decisions/0132-v8-in-the-tests.md.
 */
export const NODE_FLAGS: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('../../../infra/launch/stripped-types.mjs', import.meta.url).href,
  '--min-semi-space-size=16',
];

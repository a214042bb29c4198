// Options and environment of Node.js for the program, started by run.mjs or in the image.
export const nodeEnvironment = {
  // The allocator of glibc keeps what many threads free, each for itself: fewer arenas, and large pieces given back (decision 0101).
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

export const nodeOptions = [
  // Type stripping and node:sqlite are stable enough to use and still announce themselves as experiments.
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('./stripped-types.mjs', import.meta.url).href,
  // A batch lives for seconds: with V8's 16 MiB of young space the collector copies it again and again (decisions 0015 and 0101).
  '--max-semi-space-size=64',
];

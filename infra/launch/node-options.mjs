// Options and environment of Node.js for the program, whether run.mjs or the image starts it.
export const nodeEnvironment = {
  // glibc keeps freed memory per thread: fewer arenas, and large blocks returned to the system, reduce that (decision 0101).
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

export const nodeOptions = [
  // Type stripping and node:sqlite are stable enough to use but still print experimental warnings.
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('./stripped-types.mjs', import.meta.url).href,
  // A batch lives for seconds: with V8's default young space of 16 MiB the collector would copy it repeatedly (decisions 0015 and 0101).
  '--max-semi-space-size=64',
];

/** Compiles the page once, after the port is open, so that the API answers meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/logger.ts';
import type { BuiltPage, PageSource } from './page-source.ts';

type PageState = BuiltPage | 'compiling' | 'unavailable';

export interface PageBuild {
  readonly state: PageState;
  /** Call it once the port is open. */
  start(): void;
  /** Resolves to the state once the build has ended, or after this time. */
  settled(ms: number): Promise<PageState>;
}

export function createPageBuild(source: Pick<PageSource, 'build'>, logger: Logger): PageBuild {
  let state: PageState = 'compiling';
  const ended = Promise.withResolvers<void>();

  async function build(): Promise<void> {
    const began = performance.now();
    try {
      const page = await source.build();
      state = page;
      const seconds = Number(((performance.now() - began) / 1000).toFixed(2));
      logger.info({ files: page.files.size, seconds }, 'the page is ready');
    } catch (err) {
      state = 'unavailable';
      logger.warn({ err }, 'the page cannot be compiled on this machine, and / reports that; the API is not affected');
    }
    ended.resolve();
  }

  return {
    get state() {
      return state;
    },
    start: () => void build(),
    async settled(ms) {
      await Promise.race([ended.promise, sleep(ms, undefined, { ref: false })]);
      return state;
    },
  };
}

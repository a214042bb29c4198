/** A temporary log. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder } from '../../infra/create-folder.ts';
import { SCRATCH_PREFIX } from '../../infra/data-folder/data-folder.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';

export interface ScratchLog extends EventLog {
  /** Closes the log and deletes its content. */
  drop(): Promise<void>;
}

/** Opens a log in a new folder below `parent`. */
export async function openScratchLog(parent: string): Promise<ScratchLog> {
  createFolder(parent);
  const folder = await mkdtemp(join(parent, SCRATCH_PREFIX));
  const log = createEmbeddedEventLog({ folder });
  return {
    ...log,
    async drop() {
      await log.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { describeEventLog } from '../../../test/support/infra/event-log/conformance.ts';
import { createEmbeddedEventLog } from './embedded-event-log.ts';

describe('the embedded log', () => {
  const folders: string[] = [];

  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  describeEventLog({
    async createStorage() {
      const folder = mkdtempSync(join(tmpdir(), 'verustream-log-'));
      folders.push(folder);
      return { open: () => createEmbeddedEventLog({ folder }), appender: { folder } };
    },
    secondWriter: 'is refused',
    kills: 25,
  });
});

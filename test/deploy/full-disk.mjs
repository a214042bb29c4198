/** Preloaded into the program: while the file of FULL_DISK exists, the disk is full, for `statfs` and for SQLite. */
import { existsSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';

const isFull = () => existsSync(process.env.FULL_DISK ?? '');
const { statfs } = promises;
const { run } = StatementSync.prototype;

promises.statfs = async (...args) => {
  const answer = await statfs(...args);
  return isFull() ? { ...answer, bavail: 0 } : answer;
};
syncBuiltinESMExports();

StatementSync.prototype.run = function (...args) {
  // As SQLite says it on a disk without space.
  if (isFull()) throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
  return run.apply(this, args);
};

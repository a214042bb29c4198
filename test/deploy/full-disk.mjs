/** Preloaded into the program: while the file named by FULL_DISK exists, `statfs` and SQLite report a full disk. */
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
  // The error of SQLite on a full disk.
  if (isFull()) throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
  return run.apply(this, args);
};

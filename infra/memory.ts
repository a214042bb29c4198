/** Memory that this process may use: the limit of its container, if any, else that of the machine. */
import { totalmem } from 'node:os';

export function memoryBytes(): number {
  const limit = process.constrainedMemory(); // 0, or more than the machine has, without a limit
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

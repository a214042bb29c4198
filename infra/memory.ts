/** Memory that this process may use: the container's where there is one, else the machine's. */
import { totalmem } from 'node:os';

export function memoryBytes(): number {
  const limit = process.constrainedMemory(); // 0 or beyond the machine's where there is none
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

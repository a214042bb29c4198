/** The recorded daemon in its own process. */
import { fileURLToPath } from 'node:url';
import { startRecordedNode } from '../../recordings/player/recorded-node.ts';

const folder = fileURLToPath(new URL('../../recordings/private-network/', import.meta.url));
const node = await startRecordedNode({ folder, user: 'user', password: 'password' });
process.send?.(node.url);

/** Whether the answers contain nothing of what the address of the view names. */
import { signal } from '@preact/signals';

export const isMissing = signal(false);

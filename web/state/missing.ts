/** Whether the view found nothing of what its address names in the answers that came. */
import { signal } from '@preact/signals';

export const isMissing = signal(false);

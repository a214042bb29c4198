/** The current time in milliseconds, from one timer for all ages and countdowns that pauses while the page is hidden. */
import { signal } from '@preact/signals';

export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

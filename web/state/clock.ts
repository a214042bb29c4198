/** The time of the page, in milliseconds: one timer for all ages and countdowns, and none while the page is hidden. */
import { signal } from '@preact/signals';

export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

/** When the program is to end: a signal, or the death of the launcher that started it. */

/** SIGTERM reaches both the launcher and this process, so a second one is no second wish. */
export function endSignal(): AbortSignal {
  const controller = new AbortController();
  const end = () => controller.abort();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
  process.once('disconnect', end);
  process.channel?.unref(); // a command that is done ends, although the launcher still listens
  return controller.signal;
}

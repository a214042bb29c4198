/** Tells when the program must end: on a signal, or when the launcher that started it dies. */

/** A second SIGTERM has no further effect: one `kill` may reach this process twice, directly and through the launcher. */
export function endSignal(): AbortSignal {
  const controller = new AbortController();
  const end = () => controller.abort();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
  process.once('disconnect', end);
  process.channel?.unref(); // lets a finished command exit although the launcher still listens
  return controller.signal;
}

/** Everything this process has a role for, until it is told to end. */
import { serveControl } from '../infra/control-socket/control-socket.ts';
import type { Logger } from '../infra/logger.ts';
import { createDaemonGroup } from '../infra/verusd/daemon-group.ts';
import { createStageReporter } from '../pipeline/stage-reporter.ts';
import { usesDataFolder } from '../schemas/config.ts';
import { announce } from './announce.ts';
import type { CommandContext } from './command.ts';
import { answerControl } from './control-commands.ts';
import { startDemo } from './demo.ts';
import { domain } from './domain.ts';
import { openResources } from './open-resources.ts';
import { release } from './release.ts';
import { runStages } from './run-stages.ts';

/** The exit itself takes time: the engine of ClickHouse ends within it. */
const LONGEST_DRAIN_MS = 7000;

/** → exit code */
export async function runService({ config: given, logger, print, signal }: CommandContext): Promise<number> {
  signal.addEventListener('abort', () => endInTime(logger), { once: true });
  const { stores, log, close } = await openResources(given, logger);
  const closers: (() => Promise<void>)[] = [close];
  try {
    const demo = given.demo ? await startDemo(given, log, logger) : null;
    if (demo) closers.push(demo.stop);
    const config = demo?.config ?? given;
    const daemons = new Map(
      config.chains.map(({ name, rpc }) => [name, createDaemonGroup({ rpc, chain: name, logger })] as const),
    );
    closers.push(async () => void (await Promise.all([...daemons.values()].map((client) => client.close()))));
    const reporter = createStageReporter(stores.postgres, logger);
    closers.push(() => reporter.close());

    if (config.roles.includes('serve')) {
      const { startApi } = await import('../api/server.ts'); // half of all modules
      const api = await startApi({ config, release, domain, stores, log, daemons, logger, signal });
      closers.push(() => api.close());
      announce({ ...config, port: api.port }, print);
    }
    if (usesDataFolder(config)) {
      const answer = answerControl({ config, stores, log, logger });
      const control = await serveControl(config.dataDir, async (...asked) => {
        await reporter.flush(); // a command that runs here sees what this process knows
        return answer(...asked);
      });
      closers.push(() => control.close());
    }
    const playing = demo?.play(signal);
    await runStages({ config, stores, log, daemons, reporter, logger, signal, ...(demo && { ended: demo.ended }) });
    await playing;
    await untilAborted(signal); // stages that stopped for good leave the service answering
    return 0;
  } finally {
    for (const closer of closers.reverse()) await closer();
  }
}

/** Ten seconds are promised. To stop at any instant is safe, so what has not drained by then is left to the next start. */
function endInTime(logger: Logger): void {
  setTimeout(() => {
    logger.warn('ending before all has drained; the next start goes on from the last commit');
    process.exit(0);
  }, LONGEST_DRAIN_MS).unref();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

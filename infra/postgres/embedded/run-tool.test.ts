import { describe, expect, it } from 'vitest';
import { runTool } from './run-tool.ts';

const shell = (script: string) => ({ file: 'sh', args: ['-c', script], options: { cwd: '/', env: process.env } });

describe.skipIf(process.platform === 'win32')('a program of Postgres', () => {
  it('gets its input, and its output is returned', async () => {
    const long = 'x'.repeat(1 << 20);
    expect(await runTool(shell('cat'), long)).toBe(long);
  });

  it('that fails is reported with its error output, or with its code', async () => {
    await expect(runTool(shell('echo no room >&2; exit 3'), 'unread')).rejects.toThrow('no room');
    await expect(runTool(shell('exit 3'))).rejects.toThrow('sh ended with 3');
    await expect(runTool({ ...shell(''), file: '/nowhere' })).rejects.toThrow('spawn /nowhere');
  });

  it.runIf(process.platform === 'linux')('gets no Ctrl-C of the terminal: its process group is its own', async () => {
    const [pid, , , , group] = (await runTool(shell('exec cat /proc/self/stat'))).split(' ');
    expect(group).toBe(pid);
  });
});

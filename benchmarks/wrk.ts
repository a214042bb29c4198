/** Requests per second by wrk, because a load generator in Node.js would measure itself. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CONNECTIONS = 32;

export function hasWrk(): boolean {
  return !spawnSync('wrk', ['--version']).error;
}

/**
 * Each connection requests the paths in turn (only the path of the URL when none are given), with an API key.
 * @throws when an answer was an error
 */
export function load(url: string, key: string, seconds: number, paths: readonly string[] = []): Promise<number> {
  return loadBy(paths.length > 0 ? inTurn(paths) : '', url, seconds, ['--header', `Authorization: Bearer ${key}`]);
}

/** Every connection repeats a POST of the same body. @throws when an answer was an error */
export function loadByPost(url: string, body: string, seconds: number): Promise<number> {
  return loadBy(`wrk.method = 'POST'\nwrk.body = ${JSON.stringify(body)}\n`, url, seconds);
}

async function loadBy(lua: string, url: string, seconds: number, more: readonly string[] = []): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-wrk-'));
  try {
    const script = join(folder, 'load.lua');
    writeFileSync(script, lua);
    const timing = ['--threads', '1', '--connections', String(CONNECTIONS), '--duration', `${seconds}s`];
    const text = await output([...timing, ...more, '--script', script, url]);
    const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(text) ?? [];
    if (rate === undefined || text.includes('Non-2xx')) throw new Error(`${url} failed under load: ${text}`);
    return Number(rate);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const inTurn = (paths: readonly string[]) => `local paths = { ${paths.map((path) => JSON.stringify(path)).join(', ')} }
local next = 0
request = function()
  next = next % #paths + 1
  return wrk.format('GET', paths[next])
end
`;

/** Runs wrk and returns its output. */
export function output(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const wrk = spawn('wrk', args);
    let text = '';
    wrk.stdout.on('data', (chunk) => (text += chunk));
    wrk.on('error', reject).on('close', () => resolve(text));
  });
}

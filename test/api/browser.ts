/** A real Chromium without a window, from npm; CHROME_PATH names another one, for machines that npm has none for. */
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Why no browser is available on this machine; null if one is. */
export const whyNoBrowser =
  process.env.CHROME_PATH || (process.platform === 'linux' && process.arch === 'x64')
    ? null
    : `npm has no Chromium for ${process.platform} on ${process.arch}, and CHROME_PATH names none`;

/** Chromium has no sandbox when it runs as root; it shows only what this project serves. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'];

export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROME_PATH;
  if (executablePath) return playwright.launch({ executablePath, args: FLAGS });
  return playwright.launch({ ...(await unpackChromium()), args: [...FLAGS, '--headless=shell'] });
}

/** Unpacks Chromium into the temporary folder, with NSS and a font, since a machine that was set up for Node.js may have neither. */
async function unpackChromium() {
  const { default: chromium, inflate } = await import('@sparticuz/chromium');
  const packed = join(createRequire(import.meta.url).resolve('@sparticuz/chromium'), '../../bin');
  return oneAtATime(async () => {
    const executablePath = await chromium.executablePath();
    const folder = dirname(executablePath);
    const libraries = join(await inflate(join(packed, 'al2023.tar.br')), 'lib');
    const fonts = join(folder, 'fonts.conf');
    const directories = `<dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir>`;
    writeFileSync(fonts, `<fontconfig>${directories}</fontconfig>`);
    return { executablePath, env: { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fonts } };
  });
}

/** Test files run in separate processes: one could start what another is still writing. The folder is removed with the run. */
async function oneAtATime<Done>(unpack: () => Promise<Done>): Promise<Done> {
  const lock = join(tmpdir(), 'chromium-is-unpacked');
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      await sleep(100);
    }
  }
  try {
    return await unpack();
  } finally {
    rmdirSync(lock);
  }
}

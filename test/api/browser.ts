/** A real Chromium without a window, from npm; CHROME_PATH names another one, for machines that npm has none for. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Why no browser can be had here; null when one can. */
export const whyNoBrowser =
  process.env.CHROME_PATH || (process.platform === 'linux' && process.arch === 'x64')
    ? null
    : `npm has no Chromium for ${process.platform} on ${process.arch}, and CHROME_PATH names none`;

/** As root it has no sandbox; it shows what this project serves and nothing else. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'];

export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROME_PATH;
  if (executablePath) return playwright.launch({ executablePath, args: FLAGS });
  return playwright.launch({ ...(await unpackChromium()), args: [...FLAGS, '--headless=shell'] });
}

/** Into the temporary folder. NSS and a font come with it, since a machine that was made for Node may have neither. */
async function unpackChromium() {
  const { default: chromium, inflate } = await import('@sparticuz/chromium');
  const executablePath = await chromium.executablePath();
  const folder = dirname(executablePath);
  const packed = join(createRequire(import.meta.url).resolve('@sparticuz/chromium'), '../../bin');
  const libraries = join(await inflate(join(packed, 'al2023.tar.br')), 'lib');
  const fonts = join(folder, 'fonts.conf');
  writeFileSync(fonts, `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`);
  return { executablePath, env: { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fonts } };
}

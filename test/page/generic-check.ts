/**
 * Checks the contract of the marks on any view: every marked value equals the answer that its panel names, every list shows all of its rows,
 * and a panel contains no unmarked numbers.
 */
import { isLosslessNumber, parse } from 'lossless-json';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface MarkedValue {
  readonly pointer: string;
  readonly tag: string;
  readonly value: string | null;
  readonly datetime: string | null;
  readonly isNull: boolean;
  /** Number of marked values inside the element. */
  readonly holds: number;
}

interface MarkedPanel {
  readonly src: string;
  readonly chainState: string | null;
  readonly values: readonly MarkedValue[];
  readonly items: readonly string[];
  /** Texts with numbers that carry no mark. */
  readonly unmarked: readonly string[];
}

export interface CheckedView {
  readonly panels: number;
  readonly values: number;
  /** Pointers of the shown values, each after the path of its answer. */
  readonly pointers: ReadonlySet<string>;
}

/** `data-view` and address of a view. */
export type ViewAddress = readonly [view: string, address: string];

/**
 * @param view its `data-view`
 * @param token of the session with which the page sends its requests
 */
export async function checkView(
  page: Page,
  base: string,
  address: string,
  view: string,
  token?: string,
): Promise<CheckedView> {
  await page.goto(withoutStream(base, address));
  await page.locator(`main[data-view="${view}"][data-ready="true"]`).waitFor();
  return checkPanels(page, base, address, token);
}

/**
 * Checks views one after the other, opened as a reader does: the first by its address, the others by links, which load no new document. The
 * document, the first paint and the accessibility of a view have their own checks.
 */
export async function* checkViews(
  page: Page,
  base: string,
  views: readonly ViewAddress[],
): AsyncGenerator<CheckedView> {
  for await (const [, address] of openInTurn(page, base, views)) yield await checkPanels(page, base, address);
}

/** Opens views one after the other: the first by its address, the others by links, which load no new document. */
export async function* openInTurn(
  page: Page,
  base: string,
  views: readonly ViewAddress[],
): AsyncGenerator<ViewAddress> {
  for (const [index, viewAddress] of views.entries()) {
    const [view, address] = viewAddress;
    if (index === 0) await page.goto(withoutStream(base, address));
    else await followLink(page, withoutStream(base, address));
    await page.locator(`main:not([data-left])[data-view="${view}"][data-ready="true"]`).waitFor();
    yield viewAddress;
  }
}

/** Marks the current view, so that the next one can be recognised. */
async function followLink(page: Page, href: string): Promise<void> {
  await page.evaluate((to) => {
    document.querySelector('main')?.setAttribute('data-left', '');
    const link = document.createElement('a');
    link.href = to;
    document.body.append(link);
    link.click();
    link.remove();
  }, href);
}

/** Checks the current view without opening it again. */
export async function checkPanels(page: Page, base: string, address: string, token?: string): Promise<CheckedView> {
  const pointers = new Set<string>();
  let values = 0;
  const panels = await readPanels(page);
  expect(panels.length, `${address} has panels`).toBeGreaterThan(0);
  for (const panel of panels) {
    const wrong = await wrongValues(base, panel, token);
    expect(wrong, `${address}: ${panel.src}`).toEqual([]);
    expect(panel.unmarked, `${address}: numbers of ${panel.src} without a mark`).toEqual([]);
    values += panel.values.length;
    for (const { pointer } of panel.values) pointers.add(`${new URL(panel.src, base).pathname} ${pointer}`);
  }
  const width = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  expect(width[0], `${address} is no wider than the window`).toBeLessThanOrEqual(width[1] ?? 0);
  return { panels: panels.length, values, pointers };
}

export function withoutStream(base: string, address: string): string {
  const url = new URL(address, base);
  url.searchParams.set('live', '0');
  return url.href;
}

function readPanels(page: Page): Promise<MarkedPanel[]> {
  return page.locator('[data-src]').evaluateAll((panels) => {
    const marks = '[data-field], [data-derived], [data-help], [data-event], .menu';
    const number = /\d+\.\d+|\d{5,}/;
    const unmarkedOf = (panel: Element): string[] => {
      const found: string[] = [];
      const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const { parentElement, nodeValue } = texts.currentNode;
        const text = nodeValue ?? '';
        if (number.test(text.replaceAll(',', '')) && !parentElement?.closest(marks)) found.push(text);
      }
      return found;
    };
    return panels.map((panel) => ({
      src: panel.getAttribute('data-src') ?? '',
      chainState: panel.getAttribute('data-chain-state'),
      values: [...panel.querySelectorAll('[data-field]')].map((element) => ({
        pointer: element.getAttribute('data-field') ?? '',
        tag: element.localName,
        value: element.getAttribute(element.localName === 'data' ? 'value' : 'data-value'),
        datetime: element.getAttribute('datetime'),
        isNull: element.getAttribute('data-null') === 'true',
        holds: element.querySelectorAll('[data-field]').length,
      })),
      items: [...panel.querySelectorAll('[data-item]')].map((item) => item.getAttribute('data-item') ?? ''),
      unmarked: unmarkedOf(panel),
    }));
  });
}

/** Describes the values and lists of a panel that differ from the API's answer. */
async function wrongValues(
  base: string,
  { src, chainState, values, items }: MarkedPanel,
  token: string | undefined,
): Promise<string[]> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(new URL(src, base), { headers });
  const answer = parse(await response.text());
  const wrong: string[] = [];
  if (response.headers.get('X-Chain-State') !== chainState) wrong.push(`the chain state is not ${chainState}`);
  const isOfTheMoment = chainState === null;
  for (const marked of values) {
    const [isThere, expected] = at(answer, marked.pointer);
    if (!isThere) wrong.push(`${marked.pointer} is not in the answer`);
    else if (!isOfTheMoment && !isShownAs(marked, expected)) {
      wrong.push(`${marked.pointer} is ${String(expected)}, shown is ${JSON.stringify(marked)}`);
    }
  }
  for (const [list, shown] of Map.groupBy(items, (item) => item.replace(/\/\d+$/, ''))) {
    const [, rows] = at(answer, list);
    const indexes = shown.map((item) => Number(item.split('/').at(-1))).sort((a, b) => a - b);
    const isWhole = Array.isArray(rows) && indexes.length === rows.length && indexes.every((index, at) => index === at);
    if (!isWhole)
      wrong.push(`${list} has ${Array.isArray(rows) ? rows.length : 'no'} rows, shown are ${indexes.join()}`);
  }
  return wrong;
}

function isShownAs({ tag, value, datetime, isNull, holds }: MarkedValue, expected: unknown): boolean {
  if (expected === null) return isNull;
  if (tag === 'time') {
    const instant = typeof expected === 'string' ? Date.parse(expected) : Number(String(expected)) * 1000;
    return Date.parse(datetime ?? '') === instant;
  }
  if (isLosslessNumber(expected)) return tag === 'data' && value === expected.value;
  if (typeof expected === 'object') return holds > 0 || Object.keys(expected).length === 0;
  return value === String(expected);
}

/** Whether there is a value at the pointer, and the value. */
function at(answer: unknown, pointer: string): readonly [isThere: boolean, value: unknown] {
  let value = answer;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return [false, undefined];
    value = Reflect.get(value, key);
  }
  return [true, value];
}

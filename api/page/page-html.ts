/** The only HTML document of the page: its script does everything else. */
import type { AddressDescription, BuiltPage, ServiceFacts } from './page-source.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

export const UNKNOWN_ADDRESS: AddressDescription = {
  title: 'Nothing here · verustream',
  description: 'There is no such page on this service.',
  json: null,
  module: null,
};

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2f5fd0"/>
<path d="M6 9h4l6 13 6-13h4L17.5 27h-3z" fill="#fff"/></svg>`;

export function pageHtml(
  address: AddressDescription,
  { script, imports, style, modules }: BuiltPage,
  facts: ServiceFacts,
): string {
  const { title, description, json, module } = address;
  const preloads = [...imports, ...(module === null ? [] : (modules.get(module) ?? []))];
  return `<!doctype html>
<html lang="en" data-theme="system">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<meta name="description" content="${escaped(description)}">
<meta property="og:title" content="${escaped(title)}">
<meta property="og:description" content="${escaped(description)}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="verustream">
<meta name="color-scheme" content="light dark">
${json === null ? '' : `<link rel="alternate" type="application/json" href="${escaped(json)}">\n`}<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<link rel="stylesheet" href="/assets/${style}">
${preloads.map((file) => `<link rel="modulepreload" href="/assets/${file}">\n`).join('')}<script type="application/json" id="service">${JSON.stringify(facts).replaceAll('<', '\\u003c')}</script>
<script type="module" src="/assets/${script}"></script>
</head>
<body>
<div id="page"><noscript><h1>${escaped(title)}</h1><p>${escaped(description)}</p><p>This page needs JavaScript.${
    json === null ? '' : ` The same data as JSON: <a href="${escaped(json)}">${escaped(json)}</a>.`
  } The <a href="/api/docs">API</a> needs none.</p></noscript></div>
</body>
</html>
`;
}

/** A document that needs none of the page's files, for while the page is compiled or cannot be compiled. */
export function noPageHtml(reason: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>verustream</title></head>
<body><h1>verustream</h1><p>${escaped(reason)}</p><p>The API answers: <a href="/api/docs">/api/docs</a>.</p></body></html>
`;
}

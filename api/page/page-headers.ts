/** Headers of the page: it loads nothing from other origins, and no site may frame it. */
import { headerLines } from '../http/header-lines.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const DENIED = ['camera', 'display-capture', 'geolocation', 'hid', 'microphone', 'midi', 'payment', 'serial', 'usb'];

const SAFE = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': DENIED.map((feature) => `${feature}=()`).join(', '),
} as const;

/** Headers of a document. `more`: headers of the individual answer. */
export function documentHeaders(more: Readonly<Record<string, string>>) {
  return headerLines({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
    ...SAFE,
    Vary: 'Accept-Encoding',
    ...more,
  });
}

export function assetHeaders(type: string, encoding: string | null) {
  return headerLines({
    'Content-Type': type,
    'Cache-Control': 'public, max-age=31536000, immutable',
    ...SAFE,
    Vary: 'Accept-Encoding',
    ...(encoding !== null && { 'Content-Encoding': encoding }),
  });
}

import { methodOf, type Route } from '../http/route.ts';

/** GET `/api/blocks/:height/raw` → getBlocksByHeightRaw */
export function operationId(route: Route): string {
  const words = route.path
    .replace(/^\/api/, '')
    .split(/[/-]/)
    .filter((word) => word !== '')
    .map((word) => (word.startsWith(':') ? `By${capital(word.slice(1))}` : capital(word)));
  return `${methodOf(route).toLowerCase()}${words.join('') || 'Index'}`;
}

const capital = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

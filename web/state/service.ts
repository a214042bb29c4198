/** What the server told with the document. */
interface Chain {
  readonly name: string;
  readonly nativeId: string;
  readonly nativeName: string;
}

interface Service {
  readonly version: string;
  readonly demo: boolean;
  readonly chains: readonly Chain[];
  readonly keylessRequestsPerMinute: number;
  readonly creditsPerMinute: Readonly<Record<string, { readonly creditsPerMinute: number }>>;
}

export const service: Service = JSON.parse(document.getElementById('service')?.textContent ?? '{}');
export const chainNames: readonly string[] = service.chains.map(({ name }) => name);

export function nativeNameOf(chain: string): string {
  return service.chains.find(({ name }) => name === chain)?.nativeName ?? chain.toUpperCase();
}

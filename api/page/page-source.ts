/** The port to the page: `commands/` implements it with web/, which api/ does not import. */
import type { Config } from '../../schemas/config.ts';

/** Describes an address to clients that run no script, such as link previews and search engines. */
export interface AddressDescription {
  readonly title: string;
  readonly description: string;
  /** REST path of the same data as JSON; null when there is none. */
  readonly json: string | null;
  /** Source file of the view's module; null for an unknown address. */
  readonly module: string | null;
}

export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

export interface BuiltPage {
  /** By file name below /assets/, which contains a hash of the content. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly script: string;
  /** Files that the script imports statically. */
  readonly imports: readonly string[];
  readonly style: string;
  /** Files that each module needs in addition to the first script, by the module's source file. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
}

export interface PageSource {
  /** Returns null for an address that does not belong to the page. */
  describe(path: string, query: string, chains: readonly string[]): AddressDescription | null;
  /** @throws when there is no compiler for this machine, or compiling fails */
  build(): Promise<BuiltPage>;
}

/** Facts about the service that the document contains, so that the page need not request them. */
export interface ServiceFacts {
  readonly version: string;
  readonly recordings: Config['recordings'];
  readonly chains: readonly {
    readonly name: string;
    readonly nativeId: string;
    readonly nativeName: string;
    readonly blockSeconds: number;
  }[];
  readonly keylessRequestsPerMinute: number;
  readonly creditsPerMinute: Config['tiers'];
}

/** What the compiler makes of the page. */

/** A file in all the forms that clients take. */
export interface CompiledFile {
  readonly type: string;
  readonly body: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

export interface CompiledPage {
  readonly files: ReadonlyMap<string, CompiledFile>;
  readonly script: string;
  /** What the first script imports at once. */
  readonly imports: readonly string[];
  readonly style: string;
  /** Files that a view's module needs beyond the first script, by its source. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
}

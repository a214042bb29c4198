/** The compiled page; api/page/page-source.ts has the same shape, since neither folder imports the other. */

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
  /** Files that the first script imports statically. */
  readonly imports: readonly string[];
  readonly style: string;
  /** Files that a view's module needs beyond the first script, by its source. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
}

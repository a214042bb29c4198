/** What the data folders of all versions have in common, and what is told of each. */
export const CHAIN = 'vrsc';
export const CHAIN_SETTINGS = {
  name: CHAIN,
  rootCurrency: 'VRSCTEST',
  stableAnchors: ['iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg'],
  minBasketAge: 20,
};
/** alice@ of the recording, who has the key, the session, the webhook and tier `pro`. */
export const OWNER = 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2';

export interface FolderContents {
  readonly key: string;
  readonly session: string;
  /** Its id. */
  readonly webhook: string;
  /** Of the newest block, and of the newest one that the recorded chain has as well. */
  readonly height: number;
  readonly fork: number;
  /** Version of Node.js that wrote it. */
  readonly node: string;
}

/** The common part of the data folders of all versions, and the description of each. */
export const CHAIN = 'vrsc';
export const CHAIN_SETTINGS = {
  name: CHAIN,
  rootCurrency: 'VRSCTEST',
  stableAnchors: ['iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg'],
  minBasketAge: 20,
};
/** alice@ of the recording, owner of the key, the session and the webhook, with tier `pro`. */
export const OWNER = 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2';

export interface FolderContents {
  readonly key: string;
  readonly session: string;
  /** Id of the webhook. */
  readonly webhook: string;
  /** Heights of the newest block and of the newest block that is also on the recorded chain. */
  readonly height: number;
  readonly fork: number;
  /** Version of Node.js that wrote the folder. */
  readonly node: string;
}

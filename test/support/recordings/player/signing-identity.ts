/** An identity whose keys the test has, so that it can sign messages that were not recorded. */
import { randomBytes } from 'node:crypto';
import { getPublicKey, signAsync } from '@noble/secp256k1';
import { keyAddress, toAddress } from '../../../../domain/addresses.ts';
import { addressDigest, identityDigest, type SigningKeys } from '../../../../recordings/player/verify-message.ts';

export interface SigningIdentity extends SigningKeys {
  /** Base64, as the daemon's signmessage prints it; signed by `count` keys, by default the required minimum. */
  sign(message: string, height: number, version?: 1 | 2, count?: number): Promise<string>;
  /** Signed by the first key, for that key's own address. */
  signAsAddress(message: string): Promise<string>;
}

export interface SigningIdentityOptions {
  readonly systemId: string;
  /** Number of its keys, and how many of them must sign. */
  readonly keys?: number;
  readonly minimum?: number;
  readonly flags?: number;
  /** Address of another identity, to sign in its name. */
  readonly identityaddress?: string;
}

const COMPRESSED = 31;

async function compact(digest: Uint8Array, secret: Uint8Array): Promise<Buffer> {
  const signature = Buffer.from(await signAsync(digest, secret, { prehash: false, format: 'recovered' }));
  signature[0] = (signature[0] ?? 0) + COMPRESSED;
  return signature;
}

export function createSigningIdentity(options: SigningIdentityOptions): SigningIdentity {
  const { systemId, keys = 1, minimum = 1, flags = 0 } = options;
  const secrets = Array.from({ length: keys }, () => randomBytes(32));
  const identityaddress = options.identityaddress ?? toAddress(randomBytes(20));
  return {
    identityaddress,
    primaryaddresses: secrets.map((secret) => keyAddress(getPublicKey(secret))),
    minimumsignatures: minimum,
    flags,
    async sign(message, height, version = 2, count = minimum) {
      const digest = identityDigest({ version, height }, systemId, identityaddress, message);
      const head = Buffer.alloc(4);
      head.writeUInt32LE(height);
      const signatures = await Promise.all(secrets.slice(0, count).map((secret) => compact(digest, secret)));
      const parts = signatures.flatMap((signature) => [Buffer.from([signature.length]), signature]);
      const versions = version === 1 ? [1] : [2, 5];
      return Buffer.concat([Buffer.from(versions), head, Buffer.from([count]), ...parts]).toString('base64');
    },
    signAsAddress: async (message) =>
      (await compact(addressDigest(message), secrets[0] as Uint8Array)).toString('base64'),
  };
}

/** docker-compose.yml and the Dockerfile as data, against which the tests of the deployment check other files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../house/source-files.ts';

export interface ComposeService {
  readonly image: string;
  readonly build?: string | { readonly context: string };
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly start_period?: string };
  readonly restart?: string;
  readonly network_mode?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly pids_limit?: number;
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>> | readonly string[];
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string } } };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly networks: {
    readonly default: { readonly ipam: { readonly config: readonly { readonly gateway: string }[] } };
  };
}

export const IMAGE = 'verustream:local';

export const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

export const compose = parse(textOf('docker-compose.yml'), { merge: true }) as ComposeFile;

/** Services that run the image, by name. */
export const roles = Object.entries(compose.services).filter(([, { image }]) => image === IMAGE);

/** Path of a secret's file in the demo, relative to the root. */
export function demoSecret(name: string): string {
  const { file } = compose.secrets[name] ?? { file: '' };
  return file.replace(/\$\{SECRETS:-([^}]+)\}/, '$1');
}

/** Environment variables that the image sets. */
export function imageEnvironment(): Record<string, string> {
  const line = /^ENV (.*)$/m.exec(textOf('Dockerfile'))?.[1] ?? '';
  return Object.fromEntries(line.split(' ').map((pair) => pair.split('=') as [string, string]));
}

/** The broker's jars from Maven Central, fetched once into .cache/kafka/ of the project. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const POM = fileURLToPath(new URL('pom.xml', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../../../../.cache/kafka/', import.meta.url));

const OLDEST_JAVA = 17;

/** Returns the folder of the jars, or null when Java 17 or Maven is missing. @throws Error when Maven cannot fetch them */
export function kafkaJars(): string | null {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' });
  if (!(Number(/version "(\d+)/.exec(java.stderr ?? '')?.[1]) >= OLDEST_JAVA)) return null;
  const version = /<kafka.version>(.*)<\/kafka.version>/.exec(readFileSync(POM, 'utf8'))?.[1];
  const jars = join(CACHE, String(version));
  if (existsSync(jars)) return jars;
  if (spawnSync('mvn', ['-v']).status !== 0) return null;
  // Under another name until it is complete: two test runs may fetch at the same time, and either may be killed.
  mkdirSync(CACHE, { recursive: true });
  const unfinished = mkdtempSync(join(CACHE, 'fetching-'));
  const maven = ['-q', '-B', '-f', POM, 'dependency:copy-dependencies', '-DincludeScope=runtime'];
  const { status, stdout, stderr } = spawnSync('mvn', [...maven, `-DoutputDirectory=${unfinished}`], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    rmSync(unfinished, { recursive: true });
    throw new Error(`mvn could not fetch the Kafka broker: ${stdout}${stderr}`);
  }
  try {
    renameSync(unfinished, jars);
  } catch (error) {
    if (!existsSync(jars)) throw error;
    rmSync(unfinished, { recursive: true });
  }
  return jars;
}

/** RESULTS.md: the output of each benchmark when it was last recorded, with machine, date and commit. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';

const INTRO = `# Results

Written by \`npm run bench -- --record [name…]\`, a section for each benchmark that was recorded, the last time each. Ratios within a section are of one
run; figures of different sections, and of different machines, are not to be compared. [README.md](README.md) says what each measures.
`;

export interface Recorded {
  readonly name: string;
  readonly output: string;
}

export interface Circumstances {
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
}

/** Replaces the sections of these benchmarks in the text of RESULTS.md. */
export function withResults(text: string, recorded: readonly Recorded[], conditions: Circumstances): string {
  const sections = new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split('\n', 1)[0] ?? '', section.trimEnd()]),
  );
  for (const { name, output } of recorded) {
    const head = `${conditions.date}, commit ${conditions.commit}, ${conditions.machine}`;
    sections.set(name, `${name}\n${head}\n\`\`\`\n${output.trim()}\n\`\`\``);
  }
  const names = [...sections.keys()].sort();
  return `${INTRO}\n${names.map((name) => `## ${sections.get(name)}\n`).join('\n')}`;
}

/** The current date, commit and machine. */
export function circumstances(root: string): Circumstances {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain') === '' ? '' : ' with changes';
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: `${git('rev-parse', '--short=12', 'HEAD')}${changed}`,
    machine: `${cpus().length} × ${cpu?.model.trim()}, ${memory} GiB, Node.js ${process.version}, load ${loadavg()[0]?.toFixed(1)} at the start`,
  };
}

/** Dead letters from the operator's point of view: shown everywhere, and gone after `dead-letters redrive`. */
import { describe, expect, it } from 'vitest';
import { readJsonOutput } from '../support/commands/command-output.ts';
import { runCommand, startProgram, until } from './program.ts';
import { CHAIN, settingsFor, startNode, untilServed } from './recorded-chain.ts';

const ANSWERS = ['/api/blocks/?pageSize=50', '/api/conversions/?pageSize=100', '/api/oracle/prices'];
const TOTAL = /^(\d+) dead letters$/m;

describe('dead letters of a program', () => {
  it('are shown, and are redriven by the running service or by the command itself', { timeout: 300_000 }, async () => {
    const node = await startNode(400);
    const settings = settingsFor(node.url);
    const breakIt = () => runCommand([], settings, 'test/system/derive-with-faults.ts');
    const first = await startProgram(settings).answers();
    await untilServed(first, node);
    const answers = async ({ get }: typeof first) => Promise.all(ANSWERS.map(async (path) => (await get(path)).body));
    const expected = await answers(first);
    expect(await runCommand(['dead-letters', 'redrive', CHAIN], settings)).toMatchObject({ code: 0 });
    await first.kill('SIGTERM');

    expect(await breakIt()).toMatchObject({ code: 0 });
    const again = await startProgram(settings).answers();
    await untilServed(again, node);
    const list = await runCommand(['dead-letters', 'list'], settings);
    const total = Number(TOTAL.exec(list.output)?.[1]);
    expect(total).toBeGreaterThan(0);
    expect((await again.get('/metrics')).body).toContain(`verustream_dead_letters{chain="${CHAIN}"} ${total}\n`);
    const status = JSON.parse((await again.get('/api/stats/status')).body) as { chains: object };
    expect(status.chains).toMatchObject({ [CHAIN]: { deadLetters: total } });
    expect((await runCommand(['status'], settings)).output).toContain(`${total} dead letters`);
    const [, height = ''] = /^\S+ +(\d+)\/0 +transaction [0-9a-f]{64} /m.exec(list.output) ?? [];
    const listed = readJsonOutput((await runCommand(['dead-letters', 'list', '--json'], settings)).stdout);
    expect(listed.total).toBe(total);
    const shown = await runCommand(['dead-letters', 'show', CHAIN, height], settings);
    const [letter] = readJsonOutput(
      (await runCommand(['dead-letters', 'show', CHAIN, height, '--json'], settings)).stdout,
    ).deadLetters as { code: string; payload: string }[];
    expect(letter).toMatchObject({ code: 'undecodable', payload: expect.stringMatching(/^\{"txid":/) });
    expect(shown.output).toMatch(/^undecodable: TypeError: fails on this one\n\{"txid":"[0-9a-f]{64}"/m);

    for (const what of ['redrive', 'list']) {
      const wrong = await runCommand(['dead-letters', what, 'nochain'], settings);
      expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining(`allowed are ${CHAIN} (usage)`) });
    }

    // On a running service.
    const redriven = await runCommand(['dead-letters', 'redrive', CHAIN], settings);
    expect(redriven).toMatchObject({ code: 0, output: expect.stringContaining('no dead letter is left') });
    await untilServed(again, node);
    await until('it answers as it did', async () => String(await answers(again)) === String(expected));
    await again.kill('SIGTERM');

    // On a folder without a running service.
    expect(await breakIt()).toMatchObject({ code: 0 });
    expect(await runCommand(['dead-letters', 'redrive', CHAIN], settings)).toMatchObject({ code: 0 });
    expect(await runCommand(['verify'], settings)).toMatchObject({ code: 0 });
    expect(await runCommand(['dead-letters', 'list', CHAIN], settings)).toMatchObject({ stdout: '0 dead letters\n' });
  });
});

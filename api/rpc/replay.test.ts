import { afterAll, beforeAll, expect, test } from 'vitest';
import { rawMember } from '../../domain/json/raw-json.ts';
import { callKey, type RecordedCase, readCases } from '../../recordings/player/recorded-calls.ts';
import { differenceOfCall, differences, fault } from '../../test/support/api/rpc/differences.ts';
import { RECORDING, type RecordedService, startRecordedService } from '../../test/support/api/rpc/recorded-service.ts';

let service: RecordedService;
beforeAll(async () => {
  service = await startRecordedService();
});
afterAll(() => service.stop());

function callOf(recorded: RecordedCase) {
  const method = String(JSON.parse(rawMember(recorded.request, 'method') ?? '""'));
  const params = rawMember(recorded.request, 'params') ?? '[]';
  return { method, params, body: 'body' in recorded ? `${recorded.body}\n` : undefined };
}

test('every recorded call gets the recorded answer byte for byte, except for the listed differences', async () => {
  const cases = [...readCases(RECORDING)];
  const bodies = new Map<string, string[]>();
  for (const recorded of cases) {
    const { method, params, body } = callOf(recorded);
    const key = callKey(method, params);
    if (body !== undefined) bodies.set(key, [...(bodies.get(key) ?? []), body]);
  }
  const wrong: unknown[] = [];
  const used = new Set<unknown>();
  let equal = 0;
  for (const recorded of cases) {
    const call = callOf(recorded);
    const got = await service.post(`{"jsonrpc":"1.0","id":"x","method":"${call.method}","params":${call.params}}`);
    const instead = differenceOfCall(call);
    used.add(instead);
    if (!instead) equal++;
    const want = fault(
      got,
      {
        status: 'status' in recorded ? recorded.status : undefined,
        bodies: bodies.get(callKey(call.method, call.params)) ?? [],
      },
      instead,
    );
    if (want !== null) wrong.push([recorded.name, want, got.status, got.text.slice(0, 300)]);
  }
  expect(wrong).toEqual([]);
  expect(differences.calls.filter((one) => !used.has(one))).toEqual([]);
  expect(equal).toBeGreaterThan(2500);
  console.log(`${cases.length} recorded calls, ${equal} equal to the byte`);
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { daemonPrint, elementTexts, rawMember } from '../../domain/json/raw-json.ts';
import { readLines } from '../../recordings/player/read-lines.ts';
import { answerOf, type RecordedCase, readCases } from '../../recordings/player/recorded-calls.ts';
import {
  CHAIN,
  RECORDING,
  type RecordedService,
  startRecordedService,
} from '../../test/support/api/rpc/recorded-service.ts';

let service: RecordedService;
beforeAll(async () => {
  service = await startRecordedService();
});
beforeEach(() => {
  service.received.length = 0;
});
afterAll(() => service.stop());

const error = (code: number, message: string) =>
  `{"result":null,"error":{"code":${code},"message":"${message}"},"id":"x"}\n`;
const codeOf = (body: string): unknown => (JSON.parse(body) as { error: { code: number } | null }).error?.code;
const methodOf = (recorded: RecordedCase) => JSON.parse(rawMember(recorded.request, 'method') ?? '""') as string;
const paramsOf = (recorded: RecordedCase) => rawMember(recorded.request, 'params') ?? '[]';
const request = (method: string, params: string) =>
  `{"jsonrpc":"1.0","id":"x","method":"${method}","params":${params}}`;

describe('batches', () => {
  test('have answers in order, each with the same bytes as for a single call', async () => {
    const calls = [
      request('getblockcount', '[]'),
      request('getdifficulty', '[ ]'),
      '{"id":{"a":[1.0]},"method":"nosuch"}',
      '5',
      request('getidentity', '["café ☕@"]'),
    ];
    const singles: string[] = [];
    for (const call of calls) singles.push((await service.post(call)).text.trimEnd());
    singles[3] = '{"result":null,"error":{"code":-32600,"message":"Invalid Request object"},"id":null}';
    expect(await service.post(`[${calls.join(' , ')}]`)).toEqual({ status: 200, text: `[${singles.join(',')}]\n` });
  });

  test('of more than five calls are refused as a whole, and no call is executed', async () => {
    const six = await service.post(`[${Array(6).fill(request('getdifficulty', '[]')).join(',')}]`);
    expect(six).toEqual({
      status: 400,
      text: '{"result":null,"error":{"code":-32600,"message":"batch size exceeds 5"},"id":null}\n',
    });
    expect(service.received).toEqual([]);
  });

  test('may be empty', async () => {
    expect(await service.post(' [ ] ')).toEqual({ status: 200, text: '[]\n' });
  });
});

describe('forwarded calls', () => {
  test('have the ids and parameters of the client, byte for byte', async () => {
    const params = '[ {"currency":"\\u0061bc" , "amount":1.10,"amount":2,"n" : 12345678901234567890, "x":1e3} ]';
    await service.post(`{"method":"estimateconversion","params":${params},"id":[1.50,"\\u00e9"]}`);
    expect(service.received.map(({ calls }) => calls)).toEqual([[{ method: 'estimateconversion', params }]]);
    const { text } = await service.post('{"method":"getdifficulty","id":[1.50,"\\u00e9" ]}');
    expect(text).toBe(`{"result":31614.66281095476,"error":null,"id":${daemonPrint('[1.50,"é"]')}}\n`);
  });

  test('have the credentials of the configuration', async () => {
    await service.post(request('getdifficulty', '[]'));
    const basic = `Basic ${Buffer.from('user:password').toString('base64')}`;
    expect(service.received.map(({ authorization, status }) => [authorization, status])).toEqual([[basic, 200]]);
  });
});

describe('from the index', () => {
  const call = async (method: string, params: string) => JSON.parse((await service.post(request(method, params))).text);

  test('height and hashes, without a call to the daemon', async () => {
    const hashes = Array.from(readLines(`${RECORDING}/blocks.jsonl.gz`), (line) =>
      rawMember(line.toString('utf8'), 'hash'),
    );
    expect((await service.post(request('getblockcount', '[]'))).text).toBe('{"result":1551,"error":null,"id":"x"}\n');
    expect((await service.post(request('getbestblockhash', '[]'))).text).toBe(
      `{"result":${hashes[1551]},"error":null,"id":"x"}\n`,
    );
    for (const height of [0, 1, 700, 1551]) {
      const { text } = await service.post(request('getblockhash', `[${height}]`));
      expect(text).toBe(`{"result":${hashes[height]},"error":null,"id":"x"}\n`);
    }
    for (const height of ['1552', '-1', '2147483647']) {
      const refused = await service.post(request('getblockhash', `[${height}]`));
      expect(refused).toEqual({ status: 500, text: error(-8, 'Block height out of range') });
    }
    for (const wrong of ['2147483648', '1.5', '1e2']) {
      expect((await service.post(request('getblockhash', `[${wrong}]`))).text).toBe(
        error(-1, 'JSON integer out of range'),
      );
    }
    expect(service.received).toEqual([]);
  });

  test('the history of an identity equals the array of states that the daemon showed', async () => {
    const recorded = [...readCases(RECORDING)].filter((candidate) => methodOf(candidate) === 'getidentityhistory');
    let compared = 0;
    for (const candidate of recorded) {
      const params = paramsOf(candidate);
      const count = elementTexts(params).length;
      if (!('body' in candidate) || count < 1 || count > 3 || /VRSCTEST@"\]|mempool/.test(params + candidate.name))
        continue;
      const { text } = await service.post(request('getidentityhistory', params));
      const answer = answerOf(candidate.body);
      if ('result' in answer && answer.result.includes('"history":[')) {
        const history = rawMember(answer.result, 'history');
        expect([candidate.name, text]).toEqual([candidate.name, `{"result":${history},"error":null,"id":"x"}\n`]);
        compared++;
      } else expect([candidate.name, codeOf(text)]).toEqual([candidate.name, JSON.parse(candidate.body).error.code]);
    }
    expect(compared).toBeGreaterThan(15);
    expect(service.received).toEqual([]);
  });

  test('ranges of heights: 0 and -1 are the tip', async () => {
    const heights = async (params: string) =>
      ((await call('getidentityhistory', params)).result as { height: number }[]).map(({ height }) => height);
    const all = await heights('["alice@"]');
    expect(await heights('["i5f5njYtso65186mo5WHMkRme9YG6hrZE2",0,-1]')).toEqual(all);
    expect(await heights('["alice@",-5,0]')).toEqual(all);
    expect(await heights('["alice@",265,268]')).toEqual([265, 268]);
    expect(await heights('["alice@",400,200]')).toEqual([]);
    expect(await heights('["alice@","265"," 268x"]')).toEqual([265, 268]);
    expect(await heights('["alice@",4294967561,4294967564.5]')).toEqual([265, 268]);
    expect((await call('getidentityhistory', '["i5v3h9FWVdRFbNHU7DfcpGykQjRaHtMqu7",5]')).error.code).toBe(-5);
    expect((await call('getidentityhistory', '["alice@",0,135]')).error.code).toBe(-5);
    expect(await heights('["alice@",0,136]')).toEqual([136]);
  });

  test('heights of a history are read like the recorded daemon reads them, for values of all types', async () => {
    const shown = (body: string): unknown => {
      const { result, error: refusal } = JSON.parse(body);
      const states = (result?.history ?? result) as readonly { height: number }[] | null;
      return states?.map(({ height }) => height) ?? refusal.code;
    };
    let compared = 0;
    for (const candidate of readCases(RECORDING)) {
      const params = paramsOf(candidate);
      const [name = '', start = '', end = '', ...proofs] =
        methodOf(candidate) === 'getidentityhistory' ? elementTexts(params) : [];
      if (!('body' in candidate) || proofs.join() !== 'false,0') continue;
      const { text } = await service.post(request('getidentityhistory', `[${name},${start},${end}]`));
      expect([params, shown(text)]).toEqual([params, shown(candidate.body)]);
      compared++;
    }
    expect(compared).toBeGreaterThan(25);
    expect(service.received).toEqual([]);
  });

  test('getblockcount is warming up before the first block is indexed', async () => {
    await service.postgres.pool.query("UPDATE blocks SET chain = 'elsewhere'");
    try {
      expect((await call('getblockcount', '[]')).error.code).toBe(-28);
      expect((await call('getblockhash', '[0]')).error.code).toBe(-8);
    } finally {
      await service.postgres.pool.query('UPDATE blocks SET chain = $1', [CHAIN]);
    }
  });
});

describe('a daemon in trouble', () => {
  const difficulty = () => service.post(request('getdifficulty', '[]'));
  const internal = { status: 500, text: error(-32603, 'Internal error') };

  test.each([
    ['unreachable', { closeRate: 1 }],
    ['cut off', { cutRate: 1 }],
    ['garbled', { garbageRate: 1 }],
    ['busy', { busyRate: 1 }],
    ['not ours', { wrongAuth: true }],
  ])('%s: -32603, and methods of the index still answer', async (_, faults) => {
    service.node.setFaults(faults);
    try {
      expect(await difficulty()).toEqual(internal);
      expect((await service.post(request('getblockcount', '[]'))).status).toBe(200);
      const batch = await service.post(`[${request('getdifficulty', '[]')},${request('getblockcount', '[]')}]`);
      expect(batch.text).toBe(`[${internal.text.trimEnd()},{"result":1551,"error":null,"id":"x"}]\n`);
    } finally {
      service.node.setFaults({});
    }
    expect((await difficulty()).status).toBe(200);
  });

  test('warming up: the daemon’s own message', async () => {
    service.node.setFaults({ warmUp: true });
    expect(await difficulty()).toEqual({ status: 500, text: error(-28, 'Loading block index...') });
    service.node.setFaults({});
  });
});

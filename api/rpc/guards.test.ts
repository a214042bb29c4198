import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDoubleService } from '../../test/support/api/rpc/double-service.ts';
import { type RecordedService, startRecordedService, textOf } from '../../test/support/api/rpc/recorded-service.ts';
import { DEADLY_CALLS } from './deadly-calls.ts';
import { filenameGuard } from './guards.ts';
import { RPC_METHODS } from './methods/method-table.ts';

let service: RecordedService;
beforeAll(async () => {
  service = await startRecordedService();
});
beforeEach(() => {
  service.received.length = 0;
});
afterAll(() => service.stop());

const MASKED = /"can(spend|sign)for":true/g;
const NOT_FOUND = '{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":"x"}\n';
const error = (code: number, message: string) =>
  `{"result":null,"error":{"code":${code},"message":"${message}"},"id":"x"}\n`;
const codeOf = (body: string): unknown => (JSON.parse(body) as { error: { code: number } | null }).error?.code;
const request = (method: string, params: string) =>
  `{"jsonrpc":"1.0","id":"x","method":"${method}","params":${params}}`;

describe('guards, checked by the calls that reach the daemon', () => {
  const identity = '{"name":"x","parent":"iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq","flags":2}';
  const writing: Readonly<Record<string, readonly string[]>> = {
    sendcurrency: ['"*"', '[{"address":"RHWbKF6QnGcPxVXC4FyfDh8wadPmVbgkiw","amount":1}]', '1', '0.0001'],
    registeridentity: [identity],
    updateidentity: [identity],
    revokeidentity: ['"x@"'],
    recoveridentity: [identity],
    setidentitytimelock: ['"x@"', '{"setunlockdelay":10}'],
  };
  const reached = () => service.received.flatMap(({ calls }) => calls.map(({ method }) => method));

  test.each(Object.entries(writing))('%s passes only with the flag', async (method, params) => {
    const full = `[${params.join(',')}]`;
    const flagged = `[${[...params, 'true'].join(',')}]`;
    const attempts = [
      ...['false', 'null', '"true"', '1', '[]', '{}', '""', '[true]', '{"returntx":true}'].map((flag) =>
        request(method, `[${[...params, flag].join(',')}]`),
      ),
      ...params.map((_, count) => request(method, `[${params.slice(0, count).join(',')}]`)),
      request(method, full),
      request(`${method} `, flagged),
      request(method.toUpperCase(), flagged),
      request(
        method.replace(/^./, (first) => `\\u00${first.charCodeAt(0).toString(16)}`),
        full,
      ),
      `{"id":"x","method":"${method}","method":"getdifficulty","params":${full}}`,
      `{"id":"x","method":"${method}","params":${full},"params":${flagged}}`,
      `{"id":"x","params":${full},"method":"${method}","\\u0070arams":${flagged}}`,
      `{"id":"x","method":"${method}","params":{"0":${params[0]},"returntx":true}}`,
    ];
    for (const attempt of attempts) {
      const { status } = await service.post(attempt);
      expect([attempt, status === 404 || status === 400]).toEqual([attempt, true]);
    }
    const mixed = await service.post(`[${request('getblockcount', '[]')},${request(method, full)}]`);
    expect(mixed.text).toContain('"message":"Method not found"');
    expect(reached()).toEqual([]);
    await service.post(request(method, flagged));
    expect(reached()).toEqual([method]);
  });

  const guarded = Object.entries(RPC_METHODS).flatMap(([name, method]) =>
    method.source === 'daemon'
      ? [filenameGuard, DEADLY_CALLS[name], method.servedWhen, ...method.guards]
          .filter((guard) => guard !== undefined)
          .map((guard) => [name, guard.refuses, guard] as const)
      : [],
  );

  test.each(guarded)('%s refuses %s', async (name, _, guard) => {
    service.showTip({ height: 3_000_000, hash: '' });
    try {
      expect(guard.refused.length).toBeGreaterThan(0);
      for (const params of guard.refused) {
        const { text } = await service.post(request(name, params));
        expect([params, codeOf(text)]).toEqual([params, expect.any(Number)]);
      }
      expect(reached()).toEqual([]);
    } finally {
      service.showTip(null);
    }
  });

  test('ranges of heights with blanks around the numbers have the same bound as those without', async () => {
    const ranges = [' 300, 400 , 25 ', '300 ,320, ', ' 5 ', '300 320', '300, 320 25', ' ', '300, ,320', '1, 2, 3, 4'];
    const taken = ranges.slice(0, 3);
    for (const range of ranges) {
      const { text } = await service.post(request('getcurrencystate', `["PureTri","${range}"]`));
      expect([range, codeOf(text) === -8]).toEqual([range, !taken.includes(range)]);
    }
    const params = service.received.flatMap(({ calls }) => calls.map((call) => call.params));
    expect(params).toEqual(taken.map((range) => `["PureTri","${range}"]`));
  });

  test('ranges are bounded by the height of the daemon while the index is still far behind it', async () => {
    const unbounded = [
      ['getexports', '["x",0,3000000]'],
      ['getimports', '["x"]'],
      ['getblockhashes', '[2000000000,0]'],
      ['getnetworkhashps', '[3000000]'],
      ['verifychain', '[1,0]'],
      ['getcurrencystate', '["x","0,3000000,1"]'],
      ['getsaplingtree', '["0,3000000,1"]'],
    ] as const;
    const reply = '{"result":null,"error":null,"id":"x"}\n';
    const { received, post } = createDoubleService({
      reply,
      nativeCurrencyId: '',
      tip: () => ({ height: 1000, hash: '' }),
      daemonHeight: () => 3_000_000,
    });
    for (const [method, params] of unbounded) {
      const answer = await post(Buffer.from(request(method, params)));
      expect([method, codeOf(textOf(answer))]).toEqual([method, -8]);
    }
    expect(received).toEqual([]);
    // A height that the daemon has is one of the chain.
    expect(textOf(await post(Buffer.from(request('getidentity', '["x@",0,true,2999999]'))))).toBe(reply);
  });

  test('ranges without a step pass, since the daemon chooses a step', async () => {
    const ranges = ['0,3000000', '1,99999999', ' 5 , 200000 ', '0, 3000000, '];
    const calls = [
      ...ranges.map((range) => ['getcurrencystate', `["PureTri","${range}"]`] as const),
      ...ranges.map((range) => ['getsaplingtree', `["${range}"]`] as const),
      ['getcurrencystate', '["PureTri","1,50001","PureTri"]'] as const,
    ];
    const { received, post } = createDoubleService({
      reply: '{"result":null,"error":null,"id":"x"}\n',
      nativeCurrencyId: '',
      tip: () => ({ height: 3_000_000, hash: '' }),
    });
    for (const [method, params] of calls) await post(Buffer.from(request(method, params)));
    expect(received).toEqual(calls.map(([method, params]) => `{"method":"${method}","params":${params},"id":"x"}`));
  });

  test('wallet methods and misspelt names do not pass', async () => {
    const wallet = [
      'signmessage',
      'signdata',
      'signrawtransaction',
      'registernamecommitment',
      'z_sendmany',
      'z_exportkey',
      'z_exportviewingkey',
      'z_getoperationresult',
      'dumpprivkey',
      'dumpwallet',
      'importprivkey',
      'stop',
      'listunspent',
      'getwalletinfo',
      'sendtoaddress',
      'makeoffer',
      'takeoffer',
      'verifydata',
      'getpeerinfo',
      'addnode',
      'GETINFO',
      'getinfo\\u0000',
      ' getinfo',
      'constructor',
      '__proto__',
      'toString',
    ];
    for (const method of wallet) {
      expect(await service.post(request(method, '[]'))).toEqual({ status: 404, text: NOT_FOUND });
    }
    expect(service.received).toEqual([]);
  });

  test('no call can read a file of the server', async () => {
    for (const [method, params] of [
      ['verifysignature', '[{"address":"x@","signature":"x","filename":"/etc/passwd"}]'],
      ['verifysignature', '[{"address":"x@","mmrdata":[{"message":"a"},{"\\u0066ilename" : "/etc/passwd"}]}]'],
      ['hashdata', '[{"filename":"/etc/passwd"}]'],
      ['updateidentity', `[{"name":"x","contentmultimap":{"i":[{"data":{"filename":"/etc/passwd"}}]}},true]`],
      ['sendcurrency', '["*",[{"data":{"filename":"/etc/passwd"}}],1,0.0001,true]'],
    ] as const) {
      const { status, text } = await service.post(request(method, params));
      expect([status, codeOf(text)]).toEqual([500, -8]);
    }
    expect(service.received).toEqual([]);
    await service.post(request('getvdxfid', '["filename"]'));
    expect(reached()).toEqual(['getvdxfid']);
  });

  test('no call can read the balance of a shielded address', async () => {
    const shielded = 'zs1j3y6ksydpt7v7frwh64gqzsmt4dsxjnauygaq9a2fsg74lzs9ww5ljhc34mhmyqzq6a32xagn2g';
    for (const params of [
      `["${shielded}"]`,
      `[{"address":"${shielded}"}]`,
      '["alice@:private"]',
      `["\\u007a${shielded.slice(1)}"]`,
    ]) {
      expect(codeOf((await service.post(request('getcurrencybalance', params))).text)).toBe(-5);
    }
    expect(service.received).toEqual([]);
    await service.post(request('getcurrencybalance', '["zoe@"]'));
    expect(reached()).toEqual(['getcurrencybalance']);
  });

  test('the call that crashes a daemon does not pass', async () => {
    const native = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
    const hex = 'a6ef9ea235635e328124ff3429db9f9e91b64e2d';
    const reversed = Buffer.from(hex, 'hex').reverse().toString('hex');
    for (const name of [
      native,
      ` ${native} `,
      'VRSCTEST',
      'vrsctest',
      'VRSCTEST@',
      ' VrscTest ',
      'VRSCTEST.',
      'vrsctest.VRSCTEST',
      `hex:${hex}`,
      `HEX:${reversed}`,
      `hex:0x${reversed}`,
      `hex:${reversed}zz`,
      `hex: ${reversed}`,
      'hex:',
      '\\u0056RSCTEST',
    ]) {
      const { status, text } = await service.post(request('getinitialcurrencystate', `["${name}"]`));
      expect([name, status, text]).toEqual([name, 500, error(-8, 'Invalid chain name or chain ID')]);
    }
    for (const name of [`${native}\\u0000`, `${native}\\u0000x`, `${native} \\u0000x`]) {
      expect(codeOf((await service.post(request('getinitialcurrencystate', `["${name}"]`))).text)).toBe(-8);
    }
    expect(reached()).toEqual([]);
    expect((await service.post(request('getinitialcurrencystate', '["PureTri"]'))).status).toBe(200);
  });

  test('a name of megabytes is refused for its length, before any of its labels is hashed', async () => {
    for (const labels of [200, 1_900_000]) {
      const { text } = await service.post(request('getinitialcurrencystate', `["${'a.'.repeat(labels)}a"]`));
      expect(text).toMatch(/"code":-8,"message":"Parameter 1 must be a name or an i-address of at most 400 characters/);
    }
    expect(reached()).toEqual([]);
  });

  test('gettxout, the first of two calls that together crash a daemon, is answered from getrawtransaction', async () => {
    const recorded = '"d0b8e2dc831f6c51e1fcbe8126fde0b97d6b3cbaa2584a3d344870d884339782"'; // in the newest block
    const { text } = await service.post(request('gettxout', `[${recorded},0]`));
    expect(text).toContain('"confirmations":1,"value":3.60017428,');
    const unknown = `"${'0'.repeat(63)}1"`;
    const escaped = `"\\u0030${'0'.repeat(61)}\\u00301"`;
    for (const params of [`[${unknown},0,true]`, `[${unknown},-0]`, `[${escaped},0]`]) {
      expect((await service.post(request('gettxout', params))).text).toBe('{"result":null,"error":null,"id":"x"}\n');
    }
    expect((await service.post(request('gettxout', `[${recorded.replace('d', '\\u0064')},0]`))).text).toBe(text);
    expect(new Set(reached())).toEqual(new Set(['getrawtransaction']));
    service.received.length = 0;
    await service.post(request('gettxout', `[${recorded},0,false]`));
    expect(reached()).toEqual(['gettxout']);
  });

  test('answers about identities reveal nothing about the wallet', async () => {
    for (const [method, params] of [
      ['getidentity', '["alice@"]'],
      ['getidentitycontent', '["alice@"]'],
      ['getidentityhistory', '["alice@",842,0,true]'],
      ['listidentities', '[]'],
    ] as const) {
      const { status, text } = await service.post(request(method, params));
      expect([method, status]).toEqual([method, 200]);
      expect(text).toContain('"canspendfor":false,"cansignfor":false');
      expect(text).not.toMatch(MASKED);
    }
  });
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { allFiles, covers, run } from './vectors.mjs';

const runner = fileURLToPath(new URL('vectors.mjs', import.meta.url));

for (const file of allFiles()) {
  test(`the cases of ${basename(file)}`, async () => {
    const printed = [];
    const { cases, failed } = await run([file], (line) => printed.push(line));
    assert.equal(failed, 0, printed.join('\n'));
    assert.ok(cases > 0);
  });
}

test('the one file to copy gives the same reasons', async () => {
  const printed = [];
  const { cases, failed } = await run(allFiles(), (line) => printed.push(line), true);
  assert.equal(failed, 0, printed.join('\n'));
  assert.ok(cases > 100);
});

test('the runner refuses a case that wants something else', async () => {
  const cases = allFiles().flatMap((file) => JSON.parse(readFileSync(file)));
  for (const kind of ['unwrap', 'connectUrl', 'verifyReturn', 'standardSecret', 'isNewer', 'call']) {
    const file = join(mkdtempSync(join(tmpdir(), 'vectors-')), 'changed.json');
    const changed = cases.filter((each) => each.kind === kind).map((each) => ({ ...each, want: { value: 'another' } }));
    writeFileSync(file, JSON.stringify(changed));
    const child = spawn(process.execPath, [runner, file]);
    let last;
    for await (const line of createInterface({ input: child.stdout })) last = line;
    assert.equal(last, `${changed.length} cases, ${changed.length} failed`);
    assert.equal(child.exitCode ?? await new Promise((resolve) => child.on('exit', resolve)), 1);
  }
});

test('a want covers what it names, and no more', () => {
  assert.ok(covers({ a: 1, b: null }, { a: 1, c: 2 }));
  assert.ok(covers([{ a: 1 }], [{ a: 1, b: 2 }]));
  assert.ok(!covers([1], [1, 2]));
  assert.ok(!covers({ a: 1 }, { a: '1' }));
  assert.ok(!covers({ a: null }, { a: 0 }));
  assert.ok(!covers({ a: {} }, { a: [] }));
});

test('the driver performs a case per line over the network', async (t) => {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const known = request.headers['x-api-key'] === 'svc_pk_test_served' && !pathname.endsWith('/me');
    const status = known ? 200 : 401;
    const pagination = { hasMore: true, nextCursor: String(Number(searchParams.get('cursor')) + 1) };
    const error = { code: 'invalid_api_key', message: 'no', requestId: 'req_1' };
    const answer = status === 200 ? { data: [{ id: 'a' }, { id: 'b' }], pagination } : { error };
    response.writeHead(status).end(JSON.stringify(answer));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const API_URL = `http://127.0.0.1:${server.address().port}/`;
  const env = { ...process.env, API_KEY: 'svc_pk_test_served', API_URL, RETRY_DELAY: '0.01' };
  const child = spawn(process.execPath, [runner, '--serve'], { env });
  t.after(() => child.kill());
  for (const [kind, input] of [
    ['standardSecret', { secret: 'svc_whsec_0123456789abcdef' }],
    ['call', { call: 'deposits.list', args: [{ limit: 2 }], take: 3 }],
    ['call', { call: 'me.get', args: [] }],
    ['call', { call: 'deposits.capture', args: ['dep_1', { amount: 1.5 }] }],
  ]) child.stdin.write(`${JSON.stringify({ name: '', kind, input })}\n`);
  child.stdin.end();
  const outcomes = [];
  for await (const line of createInterface({ input: child.stdout })) outcomes.push(JSON.parse(line));
  assert.deepEqual(outcomes, [
    { value: `whsec_${btoa('svc_whsec_0123456789abcdef')}` },
    { value: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] },
    { error: { status: 401, code: 'invalid_api_key', requestId: 'req_1', message: 'no' } },
    { refused: true },
  ]);
});

// What the shared cases cannot tell: forms of bodies and headers, words of errors, and runtimes other than Node.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { inspect } from 'node:util';
import vm from 'node:vm';
import { SignatureError, connectUrl, standardSecret, unwrap, verifyReturn } from '../src/index.js';

const SECRET = 'svc_whsec_0123456789abcdef0123456789abcdef';
const BODY = '{"event":"deposit.activated","createdAt":"2026-11-21T01:24:31.105Z","data":{"id":"dep_1","name":"Zoë"}}';
const NOW = 1_795_224_163;
const folder = new URL('../src/', import.meta.url);

function signed(body = BODY, timestamp = NOW, secret = SECRET) {
  const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return { 'x-svc-timestamp': String(timestamp), 'x-svc-signature': `sha256=${signature}` };
}

test('a body may be text or bytes of any kind', async () => {
  const bytes = new TextEncoder().encode(BODY);
  const part = new Uint8Array([0, 0, ...bytes, 0]).subarray(2, -1);
  for (const body of [BODY, Buffer.from(BODY), bytes, bytes.buffer, part]) {
    assert.deepEqual(await unwrap(body, signed(), SECRET, { now: NOW }), JSON.parse(BODY));
  }
});

test('headers may be those of fetch', async () => {
  assert.equal((await unwrap(BODY, new Headers(signed()), SECRET, { now: NOW })).data.id, 'dep_1');
  const twice = new Headers(signed());
  twice.append('X-Svc-Signature', signed()['x-svc-signature']);
  await assert.rejects(unwrap(BODY, twice, SECRET, { now: NOW }), { reason: 'malformed_header', hint: null });
  await assert.rejects(unwrap(BODY, new Headers(), SECRET, { now: NOW }), { reason: 'missing_header' });
});

test('the clock is that of the machine unless given', async () => {
  const now = Math.floor(Date.now() / 1000);
  assert.equal((await unwrap(BODY, signed(BODY, now), SECRET)).event, 'deposit.activated');
  await assert.rejects(unwrap(BODY, signed(), SECRET, { now: NaN }), { reason: 'expired' });
  assert.match(await connectUrl('https://dashboard.example', { slug: 'demo', secret: 'svc_cs_1', externalId: '7' }),
    new RegExp(`&ts=${String(now).slice(0, -2)}\\d\\d&sig=`));
});

test('a parsed body is refused with the remedy', async () => {
  const refusal = { name: 'TypeError', message: /express\.raw/ };
  await assert.rejects(unwrap(JSON.parse(BODY), signed(), SECRET, { now: NOW }), refusal);
});

test('a secret that is no text signs nothing', async () => {
  for (const secret of [undefined, null, '']) {
    const refusal = { reason: 'mismatch', hint: 'wrong_secret_kind' };
    await assert.rejects(unwrap(BODY, signed(), secret, { now: NOW }), refusal);
    const url = `/?connectStatus=&accountId=&externalId=&returnTs=1&returnSig=${'0'.repeat(64)}`;
    await assert.rejects(verifyReturn(url, secret), { reason: 'mismatch' });
  }
  for (const secret of [[SECRET, SECRET], 32, {}]) {
    await assert.rejects(unwrap(BODY, signed(), secret, { now: NOW }), TypeError);
  }
});

const tellsNoSecret = (error) => !inspect(error).includes('secretive');

test('an error says in words what is wrong and what helps, and tells no secret', async () => {
  const error = await unwrap(JSON.stringify(JSON.parse(BODY), null, 1), signed(), SECRET, { now: NOW }).catch((e) => e);
  assert.ok(error instanceof SignatureError);
  const words = 'The signature does not match. The body was parsed and written again: pass the raw body.';
  assert.equal(String(error), `SignatureError: ${words}`);
  assert.equal(new SignatureError('missing_header').message, 'X-Svc-Signature or X-Svc-Timestamp is missing.');
  for (const wrong of ['svc_cs_secretive', ' svc_whsec_secretive', 'svc_whsec_secretive']) {
    await assert.rejects(unwrap(BODY, signed(), wrong, { now: NOW }), tellsNoSecret);
    await assert.rejects(connectUrl('', { slug: 'd', secret: wrong, externalId: '' }), tellsNoSecret);
  }
  assert.throws(() => standardSecret('svc_cs_secretive'), tellsNoSecret);
});

test('a hint for a long body costs no more than its length', { timeout: 20_000 }, async () => {
  const body = `{"event":"${'\\"'.repeat(500_000)}\\/${'a'.repeat(1_000_000)}"}`;
  await assert.rejects(unwrap(body, signed(), SECRET, { now: NOW }), { hint: 'body_reserialized' });
});

test('a body of 10 MB that nobody signed is refused like any other', { timeout: 60_000 }, async () => {
  for (const part of ['a', '\\"', '\\u0001', '\\n ']) {
    const body = `{"event":"${part.repeat(10_000_000 / part.length)}"}`;
    const refusal = { name: 'SignatureError', reason: 'mismatch', hint: null };
    await assert.rejects(unwrap(body, signed(), SECRET, { now: NOW }), refusal);
  }
});

test('a runtime with WebCrypto and without Node verifies and signs', async () => {
  const source = ['encode.js', 'api.gen.js', 'signing.js']
    .map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n')
    .replace(/^import .*$/gm, '').replace(/^export /gm, '');
  const { subtle } = crypto;
  const context = vm.createContext({ crypto: { subtle }, TextEncoder, TextDecoder, URLSearchParams, btoa });
  const edge = vm.runInContext(`${source}; ({ connectUrl, standardSecret, unwrap, verifyReturn })`, context);
  assert.equal(vm.runInContext('typeof process + typeof Buffer + typeof require', context), 'undefined'.repeat(3));
  assert.equal((await edge.unwrap(BODY, signed(), SECRET, { now: NOW })).data.name, 'Zoë');
  const refusal = { reason: 'mismatch', hint: 'secret_whitespace' };
  await assert.rejects(edge.unwrap(BODY, signed(), `${SECRET}\n`, { now: NOW }), refusal);
  const params = { slug: 'demo', secret: 'svc_cs_1', externalId: 'é', ts: 1 };
  assert.equal(await edge.connectUrl('https://d.example', params), await connectUrl('https://d.example', params));
  const returnSig = createHmac('sha256', 'svc_cs_1').update('return:linked.acct_1.1.7').digest('hex');
  const query = `connectStatus=linked&accountId=acct_1&externalId=7&returnTs=1&returnSig=${returnSig}`;
  assert.equal((await edge.verifyReturn(`https://p.example/?${query}`, 'svc_cs_1')).accountId, 'acct_1');
  assert.equal(edge.standardSecret(SECRET), standardSecret(SECRET));
});

test('nothing that is imported needs Node', () => {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.js'))) {
    const source = readFileSync(new URL(name, folder), 'utf8');
    for (const [, from] of source.matchAll(/(?:from|import) '([^']*)'/g)) assert.match(from, /^\.\/[a-z.]+\.js$/, name);
    assert.doesNotMatch(source, /\b(Buffer|require|__dirname)\b/, name);
  }
});

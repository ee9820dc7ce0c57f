// What the shared cases cannot tell: real connections, time-outs, cancellation, and what a log of a client shows.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { inspect } from 'node:util';
import PartnerDeposits, { ApiError, ConnectionError } from '../src/index.js';
import { version } from '../src/api.gen.js';

const KEY = 'svc_pk_test_0123456789';

/** A server that answers each request by the next function, and a client of it that does not wait between attempts. */
async function serve(t, ...answers) {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answers.shift()(response, request);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => server.close().closeAllConnections();
  t.after(close);
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  const client = new PartnerDeposits(KEY, { baseUrl: `${baseUrl}/`, sleep: async () => {} });
  return { baseUrl, client, close, requests };
}

const json = (body, status = 200) => (response) => response.writeHead(status).end(JSON.stringify(body));
const cut = (response) => response.writeHead(200, { 'content-length': 99 }).write('{"data":', () => response.destroy());
const silent = () => {};

test('a request tells who asks, and its content type where it has content', async (t) => {
  const { client, requests } = await serve(t, json({ data: {} }), json({ data: {} }, 201));
  await client.me.get();
  await client.apiKeys.create({ name: 'next' });
  const [{ headers: asked }, { headers: created }] = requests;
  assert.equal(asked['x-api-key'], KEY);
  assert.equal(asked.accept, 'application/json');
  assert.equal(asked['user-agent'], `partner-deposits-node/${version} node/${process.versions.node}`);
  assert.equal(asked['content-type'], undefined);
  assert.equal(created['content-type'], 'application/json');
});

test('an answer that is cut in its body is asked for again', async (t) => {
  const { client, requests } = await serve(t, cut, json({ data: { slug: 'demo' } }));
  assert.deepEqual(await client.me.get(), { slug: 'demo' });
  assert.equal(requests.length, 2);
});

test('a refused connection is a ConnectionError that tells why, without the key', async (t) => {
  const { client, close } = await serve(t);
  close();
  const error = await client.deposits.get('dep_1').catch((thrown) => thrown);
  assert.ok(error instanceof ConnectionError);
  assert.match(error.message, /^GET \/api\/partner\/v1\/deposits\/dep_1: .*ECONNREFUSED/);
  assert.equal(error.cause.message, 'fetch failed');
  assert.ok(!inspect(error, { depth: null, showHidden: true }).includes(KEY));
});

test('an attempt without an answer in time is repeated, and then a ConnectionError', async (t) => {
  const { baseUrl } = await serve(t, silent, silent, silent);
  let attempts = 0; // counted here: on a busy machine, an attempt ends before the server has noticed it
  const counted = (...request) => (attempts++, fetch(...request));
  const client = new PartnerDeposits(KEY, { baseUrl, sleep: async () => {}, fetch: counted });
  await assert.rejects(client.me.get({ timeout: 20 }), { name: 'ConnectionError', message: /timeout/ });
  assert.equal(attempts, 3);
});

test('a redirect is an error, and no other host gets the key', async (t) => {
  const other = await serve(t);
  const { client } = await serve(t, (response) => response.writeHead(302, { location: `${other.baseUrl}/` }).end());
  await assert.rejects(client.me.get(), { name: 'ApiError', status: 302, code: 'unreadable_answer' });
  assert.equal(other.requests.length, 0);
});

test('a caller who cancels a request gets its own reason, and no further attempt', async (t) => {
  const controller = new AbortController();
  const { client, requests } = await serve(t, () => controller.abort(new Error('changed my mind')));
  await assert.rejects(client.me.get({ signal: controller.signal }), { message: 'changed my mind' });
  assert.equal(requests.length, 1);
});

test('a caller can cancel the wait between attempts', async (t) => {
  const { baseUrl, requests } = await serve(t, (response) => response.writeHead(503, { 'retry-after': 60 }).end('{}'));
  const controller = new AbortController();
  const client = new PartnerDeposits(KEY, { baseUrl, random: () => queueMicrotask(() => controller.abort()) ?? 1 });
  await assert.rejects(client.me.get({ signal: controller.signal }), { name: 'AbortError' });
  assert.equal(requests.length, 1);
});

test('a wait that has ended leaves nothing on the signal', async (t) => {
  const { baseUrl } = await serve(t, json({}, 503), json({}, 429), json({ data: {} }));
  const { signal } = new AbortController();
  await new PartnerDeposits(KEY, { baseUrl, random: () => 0 }).me.get({ signal });
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('a signal that is aborted already sends nothing', async (t) => {
  const { client, requests } = await serve(t);
  await assert.rejects(client.me.get({ signal: AbortSignal.abort() }), { name: 'AbortError' });
  assert.equal(requests.length, 0);
});

test('without options an attempt has 30 seconds, and a follower 10 more than it waits', async (t) => {
  const { baseUrl, client } = await serve(t, ...Array(4).fill(json({ data: [], nextAfter: 1, feedId: 'feed_1' })));
  const timeouts = [];
  t.mock.method(AbortSignal, 'timeout', (milliseconds) => timeouts.push(milliseconds) && new AbortController().signal);
  await client.events.feed();
  await client.events.feed({}, { timeout: 7 });
  await client.events.follow(1, { waitSeconds: 0, timeout: 5000 }).next();
  const impatient = new PartnerDeposits(KEY, { baseUrl, timeout: 1 }).events.follow(1, { waitSeconds: 25 });
  void impatient.next().catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(timeouts, [30_000, 7, 10_000, 35_000]);
});

test('the key shows in no log of a client, and in no error about it', () => {
  const client = new PartnerDeposits(KEY, { baseUrl: 'http://127.0.0.1:1' });
  const shown = inspect(client, { depth: null, showHidden: true }) + JSON.stringify(client) + String(client);
  assert.match(shown, /deposits/);
  assert.ok(!shown.includes(KEY));
  for (const key of [undefined, null, '', `${KEY}\n`, `${KEY} `, 'clé']) {
    const tellsNoKey = (error) => error instanceof TypeError && !inspect(error).includes(KEY);
    assert.throws(() => new PartnerDeposits(key), tellsNoKey);
  }
  assert.throws(() => new PartnerDeposits(KEY, { baseUrl: 'api.example.com' }), TypeError);
});

test('credentials in a base URL are refused, and no error shows them', () => {
  for (const baseUrl of ['https://user:pa55w0rd@api', 'https://pa55w0rd@api', 'https://:pa55w0rd@api:x']) {
    const shows = (error) => inspect(error, { showHidden: true }).includes('pa55w0rd');
    const tellsNone = (error) => error instanceof TypeError && !shows(error);
    assert.throws(() => new PartnerDeposits(KEY, { baseUrl }), tellsNone);
  }
});

test('what is no id is refused before any request', async () => {
  const client = new PartnerDeposits(KEY, { fetch: () => assert.fail('a request') });
  for (const id of [undefined, null, '', '.', '..', 7, {}]) {
    await assert.rejects(client.deposits.get(id), { name: 'TypeError', message: /^depositId/ });
    await assert.rejects(client.deliveries.get('pwh_1', id), { name: 'TypeError', message: /^deliveryId/ });
  }
});

test('a number that is no whole one is refused with the remedy, and a bigint is exact', async (t) => {
  const { client, requests } = await serve(t, (response, request) => request.pipe(response.writeHead(200)));
  for (const amount of [0.1, 2 ** 53, -1, Infinity, undefined]) { // a capture without an amount takes all
    const refusal = { name: 'TypeError', message: /string such as "500.50"/ };
    await assert.rejects(client.deposits.capture('dep_1', { amount }), refusal);
  }
  assert.equal(requests.length, 0);
  await assert.rejects(client.deposits.capture('dep_1', { amount: 500n, reason: undefined }), ApiError);
  assert.equal(requests[0].headers['content-length'], String('{"amount":500}'.length));
});

test('a Date is sent as the API reads it, in a query and in a body', async (t) => {
  const echoing = async (response, request) => json({ data: JSON.parse(await request.toArray()) })(response);
  const { client, requests } = await serve(t, json({ data: [], pagination: { hasMore: false } }), echoing);
  const from = new Date(Date.UTC(2026, 5, 1));
  await client.events.list({ from, to: undefined }).page();
  assert.equal(requests[0].url, '/api/partner/v1/events?from=2026-06-01T00%3A00%3A00.000Z');
  const echo = await client.webhooks.replay('pwh_1', { from, to: '2026-06-02T00:00:00Z' });
  assert.deepEqual(echo, { from: '2026-06-01T00:00:00.000Z', to: '2026-06-02T00:00:00Z' });
});

test('a list gives single pages too', async (t) => {
  const page = (id, nextCursor) => json({ data: [{ id }], pagination: { hasMore: nextCursor !== null, nextCursor } });
  const { client, requests } = await serve(t, page('a', 'next'), page('b', null));
  const list = client.deposits.list({ limit: 1 });
  const first = await list.page();
  assert.deepEqual(first, { data: [{ id: 'a' }], pagination: { hasMore: true, nextCursor: 'next' } });
  assert.deepEqual((await list.page(first.pagination.nextCursor)).data, [{ id: 'b' }]);
  assert.deepEqual(requests.map(({ url }) => url.split('?')[1]), ['limit=1', 'limit=1&cursor=next']);
});

test('a page that has a next one and does not name it is an error, not read for ever', async (t) => {
  const { client } = await serve(t, json({ data: [], pagination: { hasMore: true, nextCursor: null } }));
  await assert.rejects(client.deposits.list().page(), { code: 'unreadable_answer' });
});

test('an empty idempotency key counts as none', async (t) => {
  const { client, requests } = await serve(t, json({ data: {} }));
  await client.deposits.cancel('dep_1', {}, { idempotencyKey: '' });
  assert.match(requests[0].headers['idempotency-key'], /^[0-9a-f-]{36}$/);
});

test('two calls at a time have a key each', async (t) => {
  const { client, requests } = await serve(t, json({ data: {} }), json({ data: {} }));
  await Promise.all([client.deposits.cancel('dep_1'), client.deposits.cancel('dep_1')]);
  const [first, second] = requests.map(({ headers }) => headers['idempotency-key']);
  assert.match(first, /^[0-9a-f-]{36}$/);
  assert.notEqual(first, second);
});

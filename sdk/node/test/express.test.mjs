import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { receive } from './edge.mjs';

const SECRET = 'svc_whsec_0123456789abcdef0123456789abcdef';
const BODY = '{"event":"deposit.activated","createdAt":"2026-11-21T01:24:31.105Z","data":{"reference":"a\\u0026b"}}';
const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const NODE_PATH = process.env.NODE_PATH ?? '/usr/share/nodejs'; // where Debian keeps Express

/** A delivery with this text and the signature of BODY. */
function delivery(url, text) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return new Request(url, {
    method: 'POST', body: text, headers: {
      'content-type': 'application/json', 'x-svc-timestamp': timestamp,
      'x-svc-signature': `sha256=${createHmac('sha256', SECRET).update(`${timestamp}.${BODY}`).digest('hex')}`,
    },
  });
}

test('a receiver with Express verifies the raw body', async (t) => {
  const app = spawn(process.execPath, [fileURLToPath(new URL('express.cjs', import.meta.url))], {
    env: { ...process.env, NODE_PATH, PORT: '0', WEBHOOK_SECRET: SECRET }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => app.kill());
  const port = await Promise.race([
    once(app.stdout, 'data').then(([line]) => Number(line)),
    once(app, 'exit').then(async () => assert.fail(`the receiver ended: ${await app.stderr.toArray()}`)),
  ]);
  const post = (text) => fetch(delivery(`http://127.0.0.1:${port}/hooks/deposits`, text));
  assert.equal((await post(BODY)).status, 204);
  assert.equal(String((await once(app.stderr, 'data'))[0]), 'verified deposit.activated\n');
  const refused = await post(JSON.stringify(JSON.parse(BODY)));
  assert.equal(refused.status, 400);
  assert.equal(await refused.text(), 'mismatch');
});

test("the guide's recipe for Express is the one that runs here", () => {
  const [recipe] = read('../../../docs/guides/start-node.md').match(/^app\.post\(.*?^\}\);$/ms);
  assert.ok(read('express.cjs').includes(recipe));
});

test('a receiver with the Request of fetch verifies the raw body', async () => {
  const post = (text) => receive(delivery('https://p.example/hooks/deposits', text), { WEBHOOK_SECRET: SECRET });
  assert.equal(await (await post(BODY)).text(), 'verified deposit.activated');
  const refused = await post(JSON.stringify(JSON.parse(BODY)));
  assert.equal(refused.status, 400);
  assert.equal(await refused.text(), 'mismatch');
});

test("the guide's line for the Request of fetch is the one that runs here", () => {
  const [line] = read('../../../docs/guides/start-node.md').match(/^const event = await unwrap\(await request\..*$/m);
  assert.ok(read('edge.mjs').includes(line));
});

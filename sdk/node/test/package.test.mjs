// What a partner installs: by npm, without a network, and straight from a checkout.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as library from '../src/index.js';
import { version } from '../src/api.gen.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const entry = new URL('../src/index.js', import.meta.url).href;
const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const run = promisify(execFile);
const names = ['ApiError', 'ConnectionError', 'PartnerDeposits', 'SignatureError', 'connectUrl', 'default',
  'isNewer', 'standardSecret', 'unwrap', 'verifyReturn'];

test('import and require give the same names, and the same classes', () => {
  assert.deepEqual(Object.keys(library).sort(), names);
  const required = createRequire(import.meta.url)('../../node');
  for (const name of names) assert.equal(required[name], library[name]);
  assert.equal(library.default, library.PartnerDeposits);
});

test('there is one version', () => {
  const { version: published } = JSON.parse(read('../package.json'));
  assert.equal(published, read('../../VERSION').trim());
  assert.equal(version, published);
});

for (const form of ['tarball', 'folder']) {
  test(`a project installs the ${form} without a network, and loads it both ways`, async () => {
    const project = mkdtempSync(join(tmpdir(), 'partner-'));
    const npm = (...args) => run('npm', [...args, '--offline', '--no-audit', '--no-fund'], { cwd: project });
    writeFileSync(join(project, 'package.json'), '{"name":"pms","version":"1.0.0","private":true}');
    let source = root;
    if (form === 'tarball') {
      const [packed] = JSON.parse((await npm('pack', root, '--json')).stdout);
      const sources = readdirSync(join(root, 'src')).map((name) => `src/${name}`);
      const files = ['README.md', 'package.json', ...sources];
      assert.deepEqual(packed.files.map(({ path }) => path).sort(), files.sort());
      source = join(project, packed.filename);
    }
    await npm('install', source);
    assert.ok(existsSync(join(project, 'node_modules/partner-deposits/src/index.d.ts')));
    writeFileSync(join(project, 'a.mjs'), `import PartnerDeposits, { unwrap } from 'partner-deposits';
      console.log(new PartnerDeposits('svc_pk_test_1').deposits.create.name, typeof unwrap);`);
    writeFileSync(join(project, 'b.cjs'), `const { PartnerDeposits, unwrap } = require('partner-deposits');
      console.log(new PartnerDeposits('svc_pk_test_1').deposits.create.name, typeof unwrap);`);
    for (const file of ['a.mjs', 'b.cjs']) {
      const { stdout, stderr } = await run(process.execPath, [file], { cwd: project });
      assert.equal(stdout, 'create function\n');
      assert.equal(stderr, '');
    }
  });
}

test('an older Node says in words that it is too old, to import and to require', async () => {
  const claim = (node) => `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${node}'}})`;
  const load = (node) =>
    run(process.execPath, ['--import', claim(node), '--input-type=module', '-e', `import '${entry}'`]);
  for (const node of ['14.21.3', '18.20.4', '20.9.0', '20.18.3']) {
    const words = new RegExp(`partner-deposits needs Node 20\\.19: this is ${node}`);
    await assert.rejects(load(node), { stderr: words });
  }
  for (const node of ['20.19.0', '22.12.0', '24.0.0']) assert.equal((await load(node)).stderr, '');
  const require = run(process.execPath, ['--no-experimental-require-module', '-e', `require(${JSON.stringify(root)})`]);
  await assert.rejects(require, { stderr: /partner-deposits needs Node 20\.19 or 22\.12: this is \d+/ });
});

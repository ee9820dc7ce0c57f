// Runs the cases that all libraries share:
//
//   node test/vectors.mjs [--verify] [FILE…]   compares the outcome of each case with its want; all files by default
//   node test/vectors.mjs --serve              performs a case per line of its input, over the network to API_URL
import { readFileSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PartnerDeposits, connectUrl, isNewer, standardSecret, unwrap, verifyReturn } from '../src/index.js';
import { verify } from '../../verify/verify.mjs';

const folder = fileURLToPath(new URL('../../vectors/', import.meta.url));

const kinds = {
  unwrap: ({ headers, secret, now, tolerance, ...input }) => unwrap(bodyOf(input), headers, secret, { now, tolerance }),
  connectUrl: ({ base, ...params }) => connectUrl(base, params),
  verifyReturn: ({ url, secret, now, tolerance }) => verifyReturn(url, secret, { now, tolerance }),
  standardSecret: async ({ secret }) => standardSecret(secret),
  isNewer: async ({ event, storedVersion }) => isNewer(event, storedVersion),
};

const bodyOf = ({ body, bodyBase64 }) => body ?? Buffer.from(bodyBase64, 'base64');

/** Tells how a case ends, in the form that cases describe. */
export async function outcomeOf({ kind, input }) {
  if (kind === 'call') return outcomeOfCall(input);
  return settle(kinds[kind](input));
}

async function settle(promise) {
  try {
    return { value: await promise };
  } catch (error) {
    const { name, reason, hint, status, code, requestId, message } = error;
    if (name === 'TypeError') return { refused: true };
    if (name === 'SignatureError') return { error: { reason, hint } };
    if (name === 'ConnectionError') return { error: { connection: true } };
    if (name === 'ApiError') return { error: { status, code, requestId, message } };
    return { failure: String(error) };
  }
}

async function outcomeOfCall({ answers, random = 1, ...input }) {
  const { API_KEY, API_URL, RETRY_DELAY = '0.5' } = process.env;
  if (!answers) {
    const random = () => Math.random() * RETRY_DELAY / 0.5;
    return settle(call(new PartnerDeposits(API_KEY, { baseUrl: API_URL, random }), input));
  }
  const [requests, waits, left] = [[], [], [...answers]];
  let tooMany = false;
  const client = new PartnerDeposits('svc_pk_test_vectors', {
    random: () => random,
    sleep: async (milliseconds) => void waits.push(milliseconds / 1000),
    fetch: async (url, { method, headers, body }) => {
      requests.push({ method, path: url.replace('https://api.example.com', ''), key: headers.get('idempotency-key'),
        ...(body && { body: JSON.parse(body), amount: /"amount":(-?[\d.eE+-]+)/.exec(body)?.[1] }) });
      const answer = left.shift() ?? { missing: true };
      tooMany ||= answer.missing;
      if (answer.cut || answer.missing) throw new TypeError('fetch failed');
      return new Response(answer.text ?? JSON.stringify(answer.body) ?? null, answer);
    },
  });
  const outcome = await settle(call(client, input));
  if (tooMany) return { failure: 'more requests than answers', requests };
  const sameKey = requests.every(({ key }) => key === requests[0].key && uuid.test(key));
  return { ...outcome, requests, waits, sameKey };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

async function call(client, { call: name, args = [], options, take = Infinity }) {
  const [resource, method] = name.split('.');
  if (!client[resource]?.[method]) throw new Error(`there is no ${name}`);
  const arity = { 'webhooks.ensure': 3, 'events.follow': 2 }[name] ?? client[resource][method].length;
  const places = Array.from({ length: arity - 1 }, (_, i) => args[i] ?? undefined);
  const result = client[resource][method](...places, options ?? undefined);
  if (!result[Symbol.asyncIterator]) return result;
  const items = [];
  if (take > 0) {
    for await (const item of result) if (items.push(item) >= take) break;
  }
  return items;
}

/** Tells whether an outcome has all that a case wants; null stands for absent. */
export function covers(want, got) {
  if (want == null) return got == null;
  if (typeof want !== 'object') return want === got;
  if (got == null || Array.isArray(want) !== Array.isArray(got) || want.length !== got.length) return false;
  return Object.entries(want).every(([name, value]) => covers(value, got[name]));
}

/** Runs the cases of files and prints those that fail; answers how many do. */
export async function run(files, print = console.log, withVerify = false) {
  let cases = 0;
  let failed = 0;
  for (const { name, kind, input, want } of files.flatMap((file) => JSON.parse(readFileSync(file)))) {
    if (withVerify && kind !== 'unwrap') continue;
    cases++;
    const got = await (withVerify ? outcomeOfVerify(input) : outcomeOf({ kind, input }));
    if (withVerify && want.error) delete want.error.hint;
    if (covers(want, got)) continue;
    failed++;
    print(`${name}\n  want ${JSON.stringify(want)}\n  got  ${JSON.stringify(got)}`);
  }
  print(`${cases} cases, ${failed} failed`);
  return { cases, failed };
}

export const allFiles = () => readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => folder + name);

async function outcomeOfVerify({ headers, secret, tolerance, now, ...input }) {
  return settle(verify(bodyOf(input), headers, secret, tolerance, now));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flags = process.argv.slice(2).filter((arg) => arg.startsWith('--'));
  const files = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
  if (flags.includes('--serve')) {
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim()) console.log(JSON.stringify(await outcomeOf(JSON.parse(line))));
    }
  } else {
    const { failed } = await run(files.length ? files : allFiles(), console.log, flags.includes('--verify'));
    process.exitCode = failed ? 1 : 0;
  }
}

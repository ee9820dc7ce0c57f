import { words } from './api.gen.js';
import { bytes, query, tried } from './encode.js';

export class SignatureError extends Error {
  get name() { return 'SignatureError'; }
  constructor(reason, hint = null) {
    super(hint ? `${words[reason]} ${words[hint]}` : words[reason]);
    Object.assign(this, { reason, hint });
  }
}

export async function unwrap(rawBody, headers, secret, { tolerance = 300, now = clock() } = {}) {
  const given = ['x-svc-signature', 'x-svc-timestamp'].map((name) => valuesOf(headers, name));
  if (given.some((values) => values.length < 2 && !values[0])) throw new SignatureError('missing_header');
  const [[signature], [timestamp]] = given;
  const single = given.every((values) => values.length === 1);
  if (!single || !is(/^\d{1,15}$/, timestamp)) throw new SignatureError('malformed_header');
  if (!is(/^sha256=[0-9a-f]{64}$/, signature)) throw new SignatureError('malformed_header', hintOfForm(signature));
  const signs = async (...parts) => same(signature, `sha256=${await hmac(secret, ...parts)}`);
  if (!secret || !(await signs(timestamp, '.', rawBody))) {
    throw new SignatureError('mismatch', await hintOfMismatch(signs, timestamp, rawBody, String(secret)));
  }
  const ahead = Number(timestamp) - now;
  const hint = timestamp.length === 13 ? 'milliseconds' : ahead < 0 ? 'stale' : 'future';
  if (!(Math.abs(ahead) <= tolerance)) throw new SignatureError('expired', hint);
  const event = objectIn(textOf(rawBody));
  if (!event) throw new SignatureError('invalid_json');
  return event;
}

export async function verifyReturn(url, secret, { tolerance = Infinity, now = clock() } = {}) {
  const params = new URLSearchParams(/^[^?#]*\?([^#]*)/.exec(url)?.[1]);
  const names = ['connectStatus', 'accountId', 'returnTs', 'externalId', 'returnSig'];
  const given = names.map((name) => params.getAll(name));
  if (given.some((values) => !values.length)) throw new SignatureError('missing_parameter');
  const [status, accountId, ts, externalId, signature] = given.flat();
  const single = given.every((values) => values.length === 1);
  if (!single || !/^\d{1,15} [0-9a-f]{64}$/.test(`${ts} ${signature}`)) throw new SignatureError('malformed_parameter');
  const signed = `return:${status}.${accountId}.${ts}.${externalId}`;
  if (!secret || !same(signature, await hmac(secret, signed))) throw new SignatureError('mismatch');
  if (!(Math.abs(Number(ts) - now) <= tolerance)) throw new SignatureError('expired');
  return { status, accountId, externalId, ts: Number(ts), error: params.get('connectError') ?? undefined };
}

export async function connectUrl(base, { slug, secret, externalId, ts = clock(), page = 'register', ...prefill }) {
  if (!is(/^svc_cs_/, secret)) throw new TypeError('secret must be the connect secret (svc_cs_…)');
  if (!is(/^[a-z0-9-]{2,40}$/, slug)) throw new TypeError('slug must be 2 to 40 characters of a-z, 0-9 and -');
  if (!hasLength(externalId, 1, 255)) throw new TypeError('externalId must be a string of 1 to 255 bytes');
  if (!is(/^\d{1,10}$/, String(ts))) throw new TypeError('ts must be Unix seconds');
  if (page !== 'register' && page !== 'login') throw new TypeError('page must be register or login');
  const sig = await hmac(secret, `${slug}.${externalId}.${ts}`);
  const rest = { email: prefill.email || null, name: prefill.name || null, return_url: prefill.returnUrl || null };
  return `${base.replace(/\/+$/, '')}/${page}?${query({ partner: slug, external_id: externalId, ts, sig, ...rest })}`;
}

export function standardSecret(secret) {
  if (!is(/^svc_whsec_/, secret) || !hasLength(secret, 24, 64)) throw new TypeError('secret must be a signing secret');
  return `whsec_${btoa(String.fromCharCode(...bytes(secret)))}`;
}

const clock = () => Math.floor(Date.now() / 1000);
const is = (pattern, value) => typeof value === 'string' && pattern.test(value);
const hasLength = (text, from, to) => is(/^/, text) && bytes(text).length >= from && bytes(text).length <= to;

function valuesOf(headers, wanted) {
  if (typeof headers.get === 'function') return [headers.get(wanted)];
  return Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === wanted ? value : []));
}

async function hmac(secret, ...parts) {
  const key = await crypto.subtle.importKey('raw', bytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(...parts)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// same compares texts of one length in a time that does not tell where they differ.
const same = (a, b) => [...a].reduce((differs, _, i) => differs | (a.charCodeAt(i) ^ b.charCodeAt(i)), 0) === 0;

function hintOfForm(signature) {
  if (/^[0-9a-f]{64}$/.test(signature)) return 'prefix_missing';
  if (/^(sha256=)?[0-9A-Fa-f]{64}$/.test(signature)) return 'upper_case';
  return /^(sha256=)?[A-Za-z0-9+/]{43}=$/.test(signature) ? 'base64' : null;
}

async function hintOfMismatch(signs, timestamp, body, secret) {
  if (/^[^!-~]|[^!-~]$/.test(secret)) return 'secret_whitespace';
  if (!secret.startsWith('svc_whsec_')) return 'wrong_secret_kind';
  for (const parts of [[body, '.', timestamp], [timestamp, body], [body]]) if (await signs(...parts)) return 'order';
  if (timestamp.length === 13) return 'milliseconds';
  const text = textOf(body);
  if (!objectIn(text?.trim()) || text !== text.trim()) return 'body_changed';
  const bare = text.replace(ESCAPE, '');
  const foreign = /[\\<>&\u2028\u2029]/.test(bare) || /\s/.test(bare.replace(STRING, ''));
  return text.startsWith('{"event":"') && !foreign ? null : 'body_reserialized';
}

// We write no white space outside strings. In strings we escape what HTML gives a meaning, and never a slash.
// No pattern repeats a group: a long body would overflow the stack.
const ESCAPE = /\\(?:["\\bfnrt]|u(?:00[01][0-9a-f]|003[ce]|0026|202[89]|fffd))/g;
const STRING = /"[^"]*"/g; // once the escapes are taken away

const textOf = (body) => tried(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes(body)));
const objectIn = (text) => (/^\s*\{/.test(text) ? tried(() => JSON.parse(text)) : undefined);

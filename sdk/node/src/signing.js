import { bytes, query } from './encode.js';

const WORDS = {
  missing_header: 'X-Svc-Signature or X-Svc-Timestamp is missing.',
  malformed_header: 'X-Svc-Signature or X-Svc-Timestamp is not in the form that we send.',
  missing_parameter: 'A signed parameter of the return URL is missing.',
  malformed_parameter: 'A signed parameter of the return URL is not in the form that we send.',
  expired: 'The timestamp is outside the tolerance.',
  mismatch: 'The signature does not match.',
  invalid_json: 'The body is not a JSON object.',
  stale: "It is in the past: check this server's clock, and that the request is not a replay.",
  future: "It is in the future: check this server's clock.",
  milliseconds: 'It is in milliseconds: X-Svc-Timestamp is Unix seconds.',
  body_reserialized: 'The body was parsed and written again: pass the raw body.',
  body_changed: 'The body is not what was sent: pass the raw body, unread and unchanged.',
  wrong_secret_kind: 'The secret is not a signing secret (svc_whsec_…).',
  secret_whitespace: 'The secret has white space around it.',
  base64: 'The signature is base64: it must be lower-case hex.',
  upper_case: 'The signature is in upper case: it must be lower-case hex.',
  prefix_missing: 'The prefix sha256= is missing.',
  order: 'The signed message is in another order: it is <timestamp>.<raw body>.',
};

export class SignatureError extends Error {
  name = 'SignatureError';

  constructor(reason, hint = null) {
    super(hint ? `${WORDS[reason]} ${WORDS[hint]}` : WORDS[reason]);
    Object.assign(this, { reason, hint });
  }
}

export async function unwrap(rawBody, headers, secret, { tolerance = 300, now = clock() } = {}) {
  refuseUnless(typeof rawBody === 'string' || rawBody?.byteLength >= 0,
    "rawBody must be the raw body: text or bytes, not parsed. Express: express.raw({ type: 'application/json' })");
  const given = ['x-svc-signature', 'x-svc-timestamp'].map((name) => valuesOf(headers, name));
  if (given.some((values) => values.length < 2 && !values[0])) throw new SignatureError('missing_header');
  const [[signature], [timestamp]] = given;
  if (given.some((values) => values.length > 1) || !is(/^\d{1,15}$/, timestamp)) throw new SignatureError('malformed_header');
  if (!is(/^sha256=[0-9a-f]{64}$/, signature)) throw new SignatureError('malformed_header', hintOfForm(signature));
  const signs = await verifier(secret, signature.slice('sha256='.length));
  if (!(await signs(timestamp, '.', rawBody))) {
    throw new SignatureError('mismatch', await hintOfMismatch(signs, timestamp, rawBody, String(secret)));
  }
  checkTime(timestamp, tolerance, now);
  const event = objectIn(rawBody);
  if (!event) throw new SignatureError('invalid_json');
  return event;
}

export async function verifyReturn(url, secret, { tolerance = Infinity, now = clock() } = {}) {
  const params = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]);
  const names = ['connectStatus', 'accountId', 'returnTs', 'externalId', 'returnSig'];
  const given = names.map((name) => params.getAll(name));
  if (given.some((values) => !values.length)) throw new SignatureError('missing_parameter');
  const [status, accountId, ts, externalId, signature] = given.flat();
  if (given.flat().length > names.length || !is(/^\d+$/, ts) || !is(/^[0-9a-f]{64}$/, signature)) {
    throw new SignatureError('malformed_parameter');
  }
  const signs = await verifier(secret, signature);
  if (!(await signs(`return:${status}.${accountId}.${ts}.${externalId}`))) throw new SignatureError('mismatch');
  checkTime(ts, tolerance, now);
  return { status, accountId, externalId, ts: Number(ts), error: params.get('connectError') ?? undefined };
}

export async function connectUrl(base, { slug, secret, externalId, ts = clock(), page = 'register', ...prefill }) {
  refuseUnless(is(/^svc_cs_/, secret), 'secret must be the connect secret (svc_cs_…)');
  refuseUnless(is(/^[a-z0-9-]{2,40}$/, slug), 'slug must be 2 to 40 characters of a-z, 0-9 and -');
  refuseUnless(hasLength(externalId, 1, 255), 'externalId must be a string of 1 to 255 bytes');
  refuseUnless(is(/^\d{1,10}$/, String(ts)), 'ts must be Unix seconds');
  refuseUnless(page === 'register' || page === 'login', 'page must be register or login');
  const signature = await crypto.subtle.sign('HMAC', await keyOf(secret), bytes(`${slug}.${externalId}.${ts}`));
  const sig = Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const { email, name, returnUrl } = prefill;
  const rest = { email: email || null, name: name || null, return_url: returnUrl || null };
  return `${base.replace(/\/+$/, '')}/${page}?${query({ partner: slug, external_id: externalId, ts, sig, ...rest })}`;
}

export function standardSecret(secret) {
  refuseUnless(is(/^svc_whsec_/, secret) && hasLength(secret, 24, 64), 'secret must be a signing secret (svc_whsec_…)');
  return `whsec_${btoa(String.fromCharCode(...bytes(secret)))}`;
}

const clock = () => Math.floor(Date.now() / 1000);
const is = (pattern, value) => typeof value === 'string' && pattern.test(value);
const hasLength = (text, from, to) => typeof text === 'string' && bytes(text).length >= from && bytes(text).length <= to;

function refuseUnless(right, message) {
  if (!right) throw new TypeError(message);
}

function valuesOf(headers, wanted) {
  if (typeof headers.get === 'function') return [headers.get(wanted)];
  return Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === wanted ? value : []));
}

// With the empty secret of an unset variable anybody could sign: a key that nobody knows stands in for it.
function keyOf(secret) {
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  if (!secret || typeof secret !== 'string') return crypto.subtle.generateKey(hmac, false, ['verify']);
  return crypto.subtle.importKey('raw', bytes(secret), hmac, false, ['sign', 'verify']);
}

// verifier gives a function that tells, in constant time, whether the signature is that of a message's parts.
async function verifier(secret, signature) {
  const key = await keyOf(secret);
  const given = Uint8Array.from(signature.match(/../g), (pair) => parseInt(pair, 16));
  return (...parts) => crypto.subtle.verify('HMAC', key, given, bytes(...parts));
}

function checkTime(timestamp, tolerance, now) {
  const ahead = Number(timestamp) - now;
  if (Math.abs(ahead) <= tolerance) return;
  throw new SignatureError('expired', timestamp.length === 13 ? 'milliseconds' : ahead < 0 ? 'stale' : 'future');
}

function hintOfForm(signature) {
  if (/^[0-9a-f]{64}$/.test(signature)) return 'prefix_missing';
  if (/^(sha256=)?[0-9A-Fa-f]{64}$/.test(signature)) return 'upper_case';
  return /^(sha256=)?[A-Za-z0-9+/]{43}=$/.test(signature) ? 'base64' : null;
}

async function hintOfMismatch(signs, timestamp, body, secret) {
  if (secret.trim() !== secret) return 'secret_whitespace';
  if (!secret.startsWith('svc_whsec_')) return 'wrong_secret_kind';
  for (const parts of [[body, '.', timestamp], [timestamp, body], [body]]) if (await signs(...parts)) return 'order';
  if (timestamp.length === 13) return 'milliseconds';
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes(body));
  if (text !== text.trim() || !objectIn(body)) return 'body_changed';
  return text.startsWith('{"event":"') && !/\s/.test(text.replace(STRING, outside)) ? null : 'body_reserialized';
}

// We write no white space outside strings. In strings we escape what HTML gives a meaning, and never a slash.
const STRING = /"(?:[^"\\]|\\.)*"/g;
const OURS = /^(?:[^\\<>&\u2028\u2029]|\\["\\bfnrt]|\\u(?:00[01][0-9a-f]|003[ce]|0026|202[89]|fffd))*$/;
const outside = (string) => (OURS.test(string) ? '' : ' ');

function objectIn(body) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes(body));
    return /^\s*\{/.test(text) ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

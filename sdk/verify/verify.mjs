// Verifies a webhook in Node 20 or newer, or in any runtime with WebCrypto. Copy this file: it needs no other.
//
//   const event = await verify(rawBody, request.headers, process.env.WEBHOOK_SECRET);
//
// rawBody is the body as it came, as text or bytes, before any parsing. When the request is not ours, verify throws a
// SignatureError: answer 400. Its reason is missing_header, malformed_header, mismatch, expired or invalid_json.
export class SignatureError extends Error {
  name = 'SignatureError';

  constructor(reason) {
    super(`The webhook is refused: ${reason}.`);
    this.reason = reason;
  }
}

export async function verify(rawBody, headers, secret, tolerance = 300, now = Math.floor(Date.now() / 1000)) {
  const signatures = valuesOf(headers, 'x-svc-signature');
  const timestamps = valuesOf(headers, 'x-svc-timestamp');
  if (!signatures.length || !timestamps.length) throw new SignatureError('missing_header');
  if (signatures.length > 1 || timestamps.length > 1) throw new SignatureError('malformed_header');
  if (!/^\d{1,15}$/.test(timestamps[0])) throw new SignatureError('malformed_header');
  if (!/^sha256=[0-9a-f]{64}$/.test(signatures[0])) throw new SignatureError('malformed_header');

  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : new Uint8Array(rawBody);
  const message = new Uint8Array([...new TextEncoder().encode(`${timestamps[0]}.`), ...body]);
  const signature = Uint8Array.from(signatures[0].slice('sha256='.length).match(/../g), (pair) => parseInt(pair, 16));
  if (!secret) throw new SignatureError('mismatch'); // an empty secret would let everybody sign
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), hmac, false, ['verify']);
  if (!(await crypto.subtle.verify('HMAC', key, signature, message))) throw new SignatureError('mismatch');
  if (!(Math.abs(now - Number(timestamps[0])) <= tolerance)) throw new SignatureError('expired');

  const event = parse(body);
  if (event === null || typeof event !== 'object' || Array.isArray(event)) throw new SignatureError('invalid_json');
  return event;
}

// valuesOf returns the values of a header, of a Headers object or a plain one; an empty one counts as absent.
function valuesOf(headers, wanted) {
  const values = typeof headers.get === 'function'
    ? [headers.get(wanted)]
    : Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === wanted ? value : []));
  return values.length > 1 ? values : values.filter(Boolean);
}

function parse(body) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return null;
  }
}

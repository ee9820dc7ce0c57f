// bytes joins texts (as UTF-8) and bytes.
export function bytes(...values) {
  const parts = values.map((value) => {
    if (typeof value === 'string') return new TextEncoder().encode(value);
    if (value?.byteLength >= 0) return new Uint8Array(value);
    throw new TypeError("Pass text or bytes, nothing parsed. In Express: express.raw({ type: 'application/json' })");
  });
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

// percent encodes as RFC 3986 says; encodeURIComponent alone leaves !'()* bare.
const percent = (value) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

// query leaves out what is undefined or null; a list is joined by commas.
export const query = (params = {}) => Object.entries(params).filter(([, value]) => value != null)
  .map(([name, value]) => `${percent(name)}=${percent(value instanceof Date ? value.toISOString() : value)}`).join('&');

// id refuses what would lead to another path.
export function id(name, value) {
  if (typeof value === 'string' && !/^\.{0,2}$/.test(value)) return percent(value);
  throw new TypeError(`${name} must be an id`);
}

export function tried(run) {
  try {
    return run();
  } catch {
    return undefined;
  }
}

// bytes joins texts (as UTF-8) and bytes.
export function bytes(...values) {
  const parts = values.map((value) => (typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(value)));
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// percent encodes as RFC 3986 does; encodeURIComponent leaves !'()* bare.
export const percent = (value) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

// query leaves out what is undefined or null, and separates the values of a list by commas.
export const query = (params = {}) =>
  Object.entries(params).flatMap(([name, value]) => value == null ? [] :
    `${percent(name)}=${percent(value instanceof Date ? value.toISOString() : value)}`).join('&');

// id refuses what would lead to another path.
export function id(name, value) {
  if (typeof value === 'string' && !/^\.{0,2}$/.test(value)) return percent(value);
  throw new TypeError(`${name} must be an id`);
}

/** Texts (as UTF-8) and bytes in one piece. */
export function bytes(...values) {
  const parts = values.map((value) => (typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(value)));
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => all.set(part, at) ?? at + part.length, 0);
  return all;
}

/** As RFC 3986 has it; encodeURIComponent alone leaves !'()* as they are. */
export const percent = (value) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** What is undefined or null is left out; a Date is written as the API reads it, and a list with commas. */
export const encodeQuery = (params) =>
  Object.entries(params).filter(([, value]) => value != null)
    .map(([name, value]) => `${percent(name)}=${percent(value instanceof Date ? value.toISOString() : value)}`).join('&');

import { resources, version } from './api.gen.js';
import { query } from './encode.js';

export class ApiError extends Error {
  name = 'ApiError';

  constructor(status, code, message, requestId, retryAfter) {
    super(message);
    Object.assign(this, { status, code, requestId, retryAfter });
  }
}

export class ConnectionError extends Error {
  name = 'ConnectionError';
}

export class PartnerDeposits {
  #apiKey; // private, so that no log of a client shows it
  #options;

  constructor(apiKey, { baseUrl = 'https://api.example.com', timeout = 30_000, retries = 2, ...forTests } = {}) {
    if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new TypeError('apiKey must be an API key (svc_pk_…), without white space');
    }
    const { fetch = globalThis.fetch, sleep = pause, random = Math.random } = forTests;
    this.#apiKey = apiKey;
    this.#options = { baseUrl: new URL(baseUrl).href.replace(/\/+$/, ''), timeout, retries, fetch, sleep, random };
    Object.assign(this, resources((...call) => (call[0].shape === 'page' ? this.#list(...call) : this.#call(...call))));
    this.webhooks.ensure = (...args) => this.#ensure(...args);
    this.events.follow = (...args) => this.#follow(...args);
  }

  async #call(route, options = {}) {
    const { retries, sleep, random } = this.#options;
    const headers = new Headers({
      'x-api-key': this.#apiKey,
      accept: 'application/json',
      'user-agent': `partner-deposits-node/${version} node/${globalThis.process?.versions?.node ?? 'none'}`,
      ...(route.body && { 'content-type': 'application/json' }),
      ...(route.keyed && { 'idempotency-key': options.idempotencyKey ?? crypto.randomUUID() }),
    });
    const request = { method: route.http, headers, body: route.body && encodeBody(route), redirect: 'manual' };
    for (let attempt = 0; ; attempt++) {
      options.signal?.throwIfAborted();
      try {
        return await this.#attempt(route, request, options);
      } catch (error) {
        if (attempt >= retries || !mayPass(route, error)) throw error;
        await sleep(Math.max(random() * 500 * 2 ** attempt, (error.retryAfter ?? 0) * 1000), options.signal);
      }
    }
  }

  async #attempt(route, request, { signal, timeout = this.#options.timeout }) {
    const { fetch, baseUrl } = this.#options;
    const url = `${baseUrl}${route.path}?${query(route.query)}`.replace(/\?$/, '');
    const signals = [AbortSignal.timeout(timeout), signal].filter(Boolean);
    let response, text;
    try {
      response = await fetch(url, { ...request, signal: AbortSignal.any(signals) });
      text = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      const { message, code } = cause.cause ?? {};
      throw new ConnectionError(`${route.http} ${route.path}: ${message || code || cause.message}`, { cause });
    }
    return read(route.shape, response, text);
  }

  #list(route, options) {
    const page = (cursor = route.query?.cursor) => this.#call({ ...route, query: { ...route.query, cursor } }, options);
    return {
      page,
      async *[Symbol.asyncIterator]() {
        for (let cursor, more = true; more; ) {
          const { data, pagination } = await page(cursor);
          yield* data;
          ({ nextCursor: cursor, hasMore: more } = pagination);
        }
      },
    };
  }

  async #ensure(url, events, options) {
    for await (const webhook of this.webhooks.list({}, options)) {
      if (webhook.url !== url) continue;
      const same = !events || `${[...new Set(events)].sort()}` === `${[...webhook.events].sort()}`;
      return same ? webhook : this.webhooks.update(webhook.id, { events }, options);
    }
    return this.webhooks.create({ url, events }, options);
  }

  async *#follow(after, { feedId, waitSeconds = 25, limit, timeout = this.#options.timeout, signal } = {}) {
    const options = { timeout: Math.max(timeout, (waitSeconds + 10) * 1000), signal };
    for (let more = true; more; ) {
      const feed = await this.events.feed({ after, waitSeconds, limit }, options);
      feedId = feedId ?? feed.feedId;
      if (feed.feedId !== feedId) throw new ApiError(200, 'feed_changed', 'The feed is another: read anew, without after.', '');
      for (const event of feed.data) yield { ...event, feedId };
      after = feed.nextAfter;
      more = waitSeconds || feed.data.length;
    }
  }
}

function encodeBody({ body, money = [] }) {
  const fields = Object.entries(body).map(([name, value]) => {
    const json = money.includes(name) && value !== undefined ? euros(name, value) : JSON.stringify(value);
    return json === undefined ? [] : `${JSON.stringify(name)}:${json}`;
  });
  return `{${fields.flat()}}`;
}

function euros(name, value) {
  const text = Number.isSafeInteger(value) || typeof value === 'bigint' ? String(value) : value;
  if (typeof text === 'string' && /^\d{1,12}(\.\d{1,2})?$/.test(text)) return text;
  throw new TypeError(`${name} must be euros: pass a string such as "500.50", or a whole number`);
}

// A request whose answer was lost may have done its work: it is repeated only where that does no harm.
function mayPass({ http, keyed }, { name, status, code, retryAfter = 0 }) {
  if (retryAfter > 60) return false;
  if (status === 429 || status === 503) return true;
  const lost = name === 'ConnectionError' || [500, 502, 504].includes(status) || code === 'idempotency_key_in_use';
  return lost && (keyed || http !== 'POST');
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function read(shape, { ok, status, headers }, text) {
  const id = headers.get('x-request-id') ?? '';
  const retryAfter = /^\d+$/.test(headers.get('retry-after')) ? Number(headers.get('retry-after')) : undefined;
  let answer;
  try {
    answer = JSON.parse(text, spellAmount);
  } catch {
    // Not JSON: neither an answer nor an error of the API.
  }
  if (ok && isAnswer[shape](answer ?? {})) return shape === 'data' ? answer.data : answer;
  const { code, message, requestId = id } = (!ok && answer?.error) || {};
  if (typeof code === 'string') throw new ApiError(status, code, message, requestId, retryAfter);
  throw new ApiError(status, 'unreadable_answer', `The answer, of status ${status}, is not the API's.`, id, retryAfter);
}

const isAnswer = {
  none: () => true,
  data: ({ data }) => Object(data) === data,
  page: ({ data, pagination }) => Array.isArray(data) && typeof pagination?.hasMore === 'boolean',
  whole: (answer) => Object.keys(answer).length > 0,
};

// An amount is the text of the cents beside it, never a float.
function spellAmount(_, value) {
  if (Number.isSafeInteger(value?.amountCents) && 'amount' in value) {
    value.amount = String(value.amountCents).padStart(3, '0').replace(/..$/, '.$&');
  }
  return value;
}

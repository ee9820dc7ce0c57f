import { resources, version } from './api.gen.js';
import { query, tried } from './encode.js';

const userAgent = `partner-deposits-node/${version} node/${globalThis.process?.versions?.node ?? 'none'}`;

export class ApiError extends Error {
  get name() { return 'ApiError'; }
  constructor(status, code, message, requestId, retryAfter) {
    super(message);
    Object.assign(this, { status, code, requestId, retryAfter });
  }
}

export class ConnectionError extends Error {
  get name() { return 'ConnectionError'; }
}

export class PartnerDeposits {
  #apiKey; // private, so that no log of a client shows it
  #options;

  constructor(apiKey, { baseUrl = 'https://api.example.com', timeout = 30_000, retries = 2, ...forTests } = {}) {
    if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new TypeError('apiKey must be an API key (svc_pk_…), without white space');
    }
    const url = tried(() => new URL(baseUrl)); // its own error would show the text
    if (!url || url.username || url.password) throw new TypeError('baseUrl must be a URL without a user and password');
    const { fetch = globalThis.fetch, sleep = pause, random = Math.random } = forTests;
    this.#apiKey = apiKey;
    this.#options = { baseUrl: url.href.replace(/\/+$/, ''), timeout, retries, fetch, sleep, random };
    Object.assign(this, resources((...call) => (call[0].shape === 'page' ? this.#list(...call) : this.#call(...call))));
    this.webhooks.ensure = (...args) => this.#ensure(...args);
    this.events.follow = (...args) => this.#follow(...args);
  }

  async #call(route, { signal, timeout = this.#options.timeout, idempotencyKey } = {}) {
    const { baseUrl, retries, fetch, sleep, random } = this.#options;
    const url = `${baseUrl}${route.path}?${query(route.query)}`.replace(/\?$/, '');
    const headers = new Headers({ 'x-api-key': this.#apiKey, accept: 'application/json', 'user-agent': userAgent });
    if (route.body) headers.set('content-type', 'application/json');
    if (route.keyed) headers.set('idempotency-key', idempotencyKey || crypto.randomUUID());
    const request = { method: route.http, headers, body: route.body && encodeBody(route), redirect: 'manual' };
    for (let attempt = 0; ; attempt++) {
      let error;
      try {
        const signals = [AbortSignal.timeout(timeout), signal].filter(Boolean);
        const response = await fetch(url, { ...request, signal: AbortSignal.any(signals) });
        return read(route.shape, response, await response.text());
      } catch (e) {
        signal?.throwIfAborted();
        const why = e.cause?.message || e.cause?.code || e.message; // fetch itself says only that it failed
        error = e instanceof ApiError ? e : new ConnectionError(`${route.http} ${route.path}: ${why}`, { cause: e });
      }
      if (attempt >= retries || !mayPass(route, error)) throw error;
      await sleep(Math.max(random() * 500 * 2 ** attempt, (error.retryAfter ?? 0) * 1000), signal);
    }
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

  async *#follow(after, { feedId, limit, waitSeconds = 25, timeout = this.#options.timeout, signal } = {}) {
    const options = { timeout: Math.max(timeout, (waitSeconds + 10) * 1000), signal };
    for (let more = true; more; ) {
      const feed = await this.events.feed({ after, limit, waitSeconds }, options);
      feedId = feedId ?? feed.feedId;
      if (feed.feedId !== feedId) throw new ApiError(200, 'feed_changed', 'Another feed: read it without after.', '');
      for (const event of feed.data) yield { ...event, feedId };
      after = feed.nextAfter;
      more = waitSeconds || feed.data.length;
    }
  }
}

function encodeBody({ body, money = [] }) {
  const fields = Object.entries(body).filter(([name, value]) => value !== undefined || money.includes(name));
  const encode = (name, value) => (money.includes(name) ? euros(name, value) : JSON.stringify(value));
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${encode(name, value)}`)}}`;
}

function euros(name, value) {
  const text = Number.isSafeInteger(value) || typeof value === 'bigint' ? String(value) : value;
  if (typeof text === 'string' && /^(0|[1-9]\d{0,11})(\.\d{1,2})?$/.test(text)) return text;
  throw new TypeError(`${name} must be euros: pass a string such as "500.50", or a whole number`);
}

// A request whose answer was lost may have done its work: it is repeated only where that does no harm.
function mayPass({ http, keyed }, { name, status, code, retryAfter = 0 }) {
  const lost = name === 'ConnectionError' || [500, 502, 503, 504].includes(status) || code === 'idempotency_key_in_use';
  return retryAfter <= 60 && (status === 429 || (lost && (keyed || http !== 'POST')));
}

const pause = (milliseconds, signal) => new Promise((resolve, reject) => {
  const stop = () => { clearTimeout(timer); reject(signal.reason); };
  const timer = setTimeout(() => { signal?.removeEventListener('abort', stop); resolve(); }, milliseconds);
  signal?.addEventListener('abort', stop, { once: true });
});

function read(shape, { ok, status, headers }, text) {
  const answer = tried(() => JSON.parse(text, spellAmount));
  const { data, pagination, error } = answer ?? {};
  const isAnswer = {
    none: true,
    data: Object(data) === data,
    page: Array.isArray(data) && pagination && (!pagination.hasMore || pagination.nextCursor),
    whole: answer,
  };
  if (ok && isAnswer[shape]) return shape === 'data' ? data : answer;
  const retryAfter = /^\d+$/.test(headers.get('retry-after')) ? Number(headers.get('retry-after')) : undefined;
  const told = !ok && typeof error?.code === 'string' ? error
    : { code: 'unreadable_answer', message: `The answer with status ${status} is not one of the API.` };
  throw new ApiError(status, told.code, told.message, told.requestId ?? headers.get('x-request-id') ?? '', retryAfter);
}

// An amount is the text of the cents beside it, never a float.
function spellAmount(_, value) {
  if (Number.isSafeInteger(value?.amountCents) && 'amount' in value) {
    value.amount = String(value.amountCents).padStart(3, '0').replace(/..$/, '.$&');
  }
  return value;
}

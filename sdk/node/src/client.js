import { routes, version } from './api.gen.js';
import { encodeQuery, percent } from './encode.js';

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
  #apiKey;
  #options;

  constructor(apiKey, options) {
    if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new TypeError('apiKey must be an API key (svc_pk_…), without white space');
    }
    this.#apiKey = apiKey;
    this.#options = { timeout: 30_000, retries: 2, fetch: globalThis.fetch, sleep, random: Math.random, ...options };
    this.#options.baseUrl = new URL(options?.baseUrl ?? 'https://api.example.com').href.replace(/\/+$/, '');
    for (const [resource, methods] of Object.entries(routes)) {
      this[resource] = {};
      for (const [name, route] of Object.entries(methods)) {
        this[resource][name] = (...args) => (route.shape === 'page' ? this.#list(route, args) : this.#call(route, args));
      }
    }
    Object.assign(this.webhooks, { ensure });
    Object.assign(this.events, { follow: (after, following) => this.#follow(after, following) });
  }

  async #call(route, args) {
    const { http, keyed, shape } = route;
    const [path, params, options] = this.#prepare(route, args);
    const headers = {
      'x-api-key': this.#apiKey,
      accept: 'application/json',
      'user-agent': `partner-deposits-node/${version} node/${globalThis.process?.versions?.node ?? 'none'}`,
    };
  }
}

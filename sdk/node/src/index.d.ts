import type { Api, CreatedWebhook, DepositEventData, EventName, FeedEvent, RentalOperatorLinkedData, Webhook } from './api.gen.js';
export * from './api.gen.js';

/** Values that the API may add later: keep a branch for what you do not know. */
export type Other = string & {};
/** Euros, exactly: "500.50" as text, or a whole number. Other numbers are refused with a TypeError. */
export type Euros = string | number | bigint;

export interface ClientOptions {
  /** https://api.example.com unless you say otherwise. */
  baseUrl?: string;
  /** Milliseconds for one attempt; 30,000 by default. */
  timeout?: number;
  /** How often a call is repeated that may succeed later; 2 by default. */
  retries?: number;
  /** For tests: what stands in for fetch, for the wait between attempts, and for Math.random. */
  fetch?: (url: string, request: any) => Promise<any>;
  sleep?: (milliseconds: number, signal?: any) => Promise<unknown>;
  random?: () => number;
}
export interface CallOptions {
  /** Milliseconds for one attempt. */
  timeout?: number;
  /** An AbortSignal that ends the call, waits included. */
  signal?: { readonly aborted: boolean };
}
export interface KeyedOptions extends CallOptions {
  /** A UUID v4 of yours, to repeat the call after a crash. Without it each call has a new one, for all its attempts. */
  idempotencyKey?: string;
}
export interface Page<T> {
  data: T[];
  pagination: { nextCursor: string | null; hasMore: boolean };
}
/** All items of all pages, each page asked for when it is needed: `for await (const item of list)`. */
export interface List<T> extends AsyncIterable<T> {
  /** The first page, or the one at a cursor. */
  page(cursor?: string): Promise<Page<T>>;
}

declare module './api.gen.js' {
  interface WebhooksResource {
    /** Finds the subscription of this URL, or creates it. Only a new one has its `secret`. Differing events are updated. */
    ensure(url: string, events?: EventName[], options?: KeyedOptions): Promise<Webhook & Partial<CreatedWebhook>>;
  }
  interface EventsResource {
    /** The events of the feed, after a number, for ever; `waitSeconds: 0` ends with the newest. Keep sequence and feedId. */
    follow(after?: number | null, options?: FollowOptions): AsyncIterable<FeedEvent & { feedId: string }>;
  }
}
export interface FollowOptions extends CallOptions {
  /** The feed that your number belongs to: another one is an ApiError with the code `feed_changed`. */
  feedId?: string;
  waitSeconds?: number;
  limit?: number;
}

export interface PartnerDeposits extends Api {}
export class PartnerDeposits {
  constructor(apiKey: string, options?: ClientOptions);
}
export default PartnerDeposits;

/** An answer other than a success. */
export class ApiError extends Error {
  readonly status: number;
  /** What went wrong, for programs; `unreadable_answer` when the answer is not the API's. */
  readonly code: string;
  /** Quote it to support. */
  readonly requestId: string;
  readonly retryAfter?: number;
}
/** No attempt got an answer; `cause` tells why. */
export class ConnectionError extends Error {}
/** What we did not sign, or not for now. */
export class SignatureError extends Error {
  readonly reason: 'missing_header' | 'malformed_header' | 'missing_parameter' | 'malformed_parameter' | 'expired' | 'mismatch' | 'invalid_json';
  readonly hint: string | null;
}

export interface Tolerance {
  /** Seconds that the time may be away: 300 for webhooks, any for returns. */
  tolerance?: number;
  /** Unix seconds; the clock by default. */
  now?: number;
}
export type WebhookEvent =
  | { event: 'rental_operator.linked'; createdAt: string; data: RentalOperatorLinkedData }
  | { event: `deposit.${string}`; createdAt: string; data: DepositEventData };
/** Verifies a webhook and gives its event, or throws a SignatureError: answer 400. The body must be the raw one. */
export function unwrap(rawBody: string | Uint8Array | ArrayBuffer, headers: …

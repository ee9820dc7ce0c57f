import type { Api, CallOptions, EventName, FeedEvent, Hint, Reason, Webhook, WebhookEvent } from './api.gen.js';
export * from './api.gen.js';

declare module './api.gen.js' {
  interface WebhooksResource {
    /** The subscription with this URL, which has these events from now on. Only a new one shows its `secret`. */
    ensure(url: string, events?: EventName[], options?: KeyedOptions): Promise<Webhook & { secret?: string }>;
  }
  interface EventsResource {
    /** The feed after a number, for ever; with `waitSeconds: 0`, to its end. Keep `sequence` and `feedId` of events. */
    follow(after?: number | null, options?: CallOptions & { feedId?: string; waitSeconds?: number; limit?: number }):
      AsyncIterable<FeedEvent & { feedId: string }>;
  }
}

export interface ClientOptions {
  baseUrl?: string;
  /** In milliseconds, of one attempt: 30,000 by default. */
  timeout?: number;
  /** How often a call is repeated that may succeed then: 2 by default. */
  retries?: number;
  /** For tests, as sleep and random are. */
  fetch?: (url: string, request: any) => Promise<any>;
  sleep?: (milliseconds: number, signal?: any) => Promise<any>;
  random?: () => number;
}
export interface PartnerDeposits extends Api {}
export class PartnerDeposits {
  constructor(apiKey: string, options?: ClientOptions);
}
export default PartnerDeposits;

/** The API refused, or its answer cannot be read (code `unreadable_answer`). Quote `requestId` to support. */
export class ApiError extends Error { status: number; code: string; requestId: string; retryAfter?: number }
/** No attempt had an answer; `cause` is the error of the last one. */
export class ConnectionError extends Error {}
/** Not what we sign, or not in time: answer 400. */
export class SignatureError extends Error { reason: Reason; hint: Hint | null }

/** How many seconds the signed time may be from `now`, in Unix seconds: 300 for webhooks, any for returns. */
export interface TimeOptions { tolerance?: number; now?: number }

/** The event of a webhook that we signed. Pass the raw body, unparsed. Throws a SignatureError. */
export function unwrap(rawBody: string | Uint8Array | ArrayBuffer, headers: { get(name: string): string | null }
  | { [name: string]: string | string[] | undefined }, secret: string, options?: TimeOptions): Promise<WebhookEvent>;
/** What the URL says with which an operator came back. Throws a SignatureError. */
export function verifyReturn(url: string, secret: string, options?: TimeOptions):
  Promise<{ status: string; accountId: string; externalId: string; ts: number; error?: string }>;
/** The URL by which an operator signs up or logs in, and links the account to you. */
export function connectUrl(base: string, params: { slug: string; secret: string; externalId: string; email?: string;
  name?: string; returnUrl?: string; page?: 'register' | 'login'; ts?: number | string }): Promise<string>;
/** The signing secret as libraries for Standard Webhooks take it. */
export function standardSecret(secret: string): string;

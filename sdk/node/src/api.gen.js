// Code generated from openapi.yaml by sdk/generate. DO NOT EDIT.

import { id } from './encode.js';

export const version = '1.0.0';

export const words = {
  missing_header: "X-Svc-Signature or X-Svc-Timestamp is missing.",
  malformed_header: "X-Svc-Signature or X-Svc-Timestamp is not in the form that we send.",
  missing_parameter: "A signed parameter of the return URL is missing.",
  malformed_parameter: "A signed parameter of the return URL is not in the form that we send.",
  expired: "The timestamp is outside the tolerance.",
  mismatch: "The signature does not match.",
  invalid_json: "The body is not a JSON object.",
  stale: "It is in the past: check this server's clock, and that the request is not a replay.",
  future: "It is in the future: check this server's clock.",
  milliseconds: "It is in milliseconds: X-Svc-Timestamp is Unix seconds.",
  body_reserialized: "The body was parsed and written again: pass the raw body.",
  body_changed: "The body is not what was sent: pass the raw body, unread and unchanged.",
  wrong_secret_kind: "The secret is not a signing secret (svc_whsec_…).",
  secret_whitespace: "The secret has white space around it.",
  base64: "The signature is base64: it must be lower-case hex.",
  upper_case: "The signature is in upper case: it must be lower-case hex.",
  prefix_missing: "The prefix sha256= is missing.",
  order: "The signed message is in another order: it is <timestamp>.<raw body>.",
};

export const isNewer = ({ data }, stored) => !stored || data?.version == null || data.version > stored;

export const resources = (call) => ({
  me: {
    get: async (options) =>
      call({ http: 'GET', path: '/api/partner/v1/me', shape: 'data' }, options),
  },
  apiKeys: {
    create: async (body, options) =>
      call({ http: 'POST', path: '/api/partner/v1/api-keys', body, shape: 'data' }, options),
    list: (query, options) =>
      call({ http: 'GET', path: '/api/partner/v1/api-keys', query, shape: 'page' }, options),
    delete: async (keyId, options) =>
      call({ http: 'DELETE', path: `/api/partner/v1/api-keys/${id('keyId', keyId)}`, shape: 'none' }, options),
  },
  accounts: {
    list: (query, options) =>
      call({ http: 'GET', path: '/api/partner/v1/accounts', query, shape: 'page' }, options),
    get: async (accountId, options) =>
      call({ http: 'GET', path: `/api/partner/v1/accounts/${id('accountId', accountId)}`, shape: 'data' }, options),
    delete: async (accountId, options) =>
      call({ http: 'DELETE', path: `/api/partner/v1/accounts/${id('accountId', accountId)}`, shape: 'none' }, options),
  },
  connect: {
    explain: async (body, options) =>
      call({ http: 'POST', path: '/api/partner/v1/connect/explain', body, shape: 'data' }, options),
  },
  webhooks: {
    create: async (body, options) =>
      call({ http: 'POST', path: '/api/partner/v1/webhooks', body, keyed: true, shape: 'data' }, options),
    list: (query, options) =>
      call({ http: 'GET', path: '/api/partner/v1/webhooks', query, shape: 'page' }, options),
    get: async (webhookId, options) =>
      call({ http: 'GET', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}`, shape: 'data' }, options),
    update: async (webhookId, body, options) =>
      call({ http: 'PATCH', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}`, body, shape: 'data' }, options),
    delete: async (webhookId, options) =>
      call({ http: 'DELETE', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}`, shape: 'none' }, options),
    rotateSecret: async (webhookId, options) =>
      call({ http: 'POST', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}/rotate-secret`, shape: 'data' }, options),
    test: async (webhookId, options) =>
      call({ http: 'POST', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}/test`, shape: 'data' }, options),
    explain: async (webhookId, body, options) =>
      call({ http: 'POST', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}/explain`, body, shape: 'data' }, options),
    replay: async (webhookId, body, options) =>
      call({ http: 'POST', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}/replay`, body, shape: 'data' }, options),
  },
  deliveries: {
    list: (webhookId, query, options) =>
      call({ http: 'GET', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}/deliveries`, query, shape: 'page' }, options),
    get: async (webhookId, deliveryId, options) =>
      call({ http: 'GET', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}/deliveries/${id('deliveryId', deliveryId)}`, shape: 'data' }, options),
    redeliver: async (webhookId, deliveryId, options) =>
      call({ http: 'POST', path: `/api/partner/v1/webhooks/${id('webhookId', webhookId)}/deliveries/${id('deliveryId', deliveryId)}/redeliver`, shape: 'data' }, options),
  },
  events: {
    list: (query, options) =>
      call({ http: 'GET', path: '/api/partner/v1/events', query, shape: 'page' }, options),
    feed: async (query, options) =>
      call({ http: 'GET', path: '/api/partner/v1/events/feed', query, shape: 'whole' }, options),
    get: async (eventId, options) =>
      call({ http: 'GET', path: `/api/partner/v1/events/${id('eventId', eventId)}`, shape: 'data' }, options),
  },
  clients: {
    create: async (body, options) =>
      call({ http: 'POST', path: '/api/partner/v1/clients', body, keyed: true, shape: 'data' }, options),
    list: (query, options) =>
      call({ http: 'GET', path: '/api/partner/v1/clients', query, shape: 'page' }, options),
    get: async (clientId, options) =>
      call({ http: 'GET', path: `/api/partner/v1/clients/${id('clientId', clientId)}`, shape: 'data' }, options),
    update: async (clientId, body, options) =>
      call({ http: 'PATCH', path: `/api/partner/v1/clients/${id('clientId', clientId)}`, body, keyed: true, shape: 'data' }, options),
    delete: async (clientId, options) =>
      call({ http: 'DELETE', path: `/api/partner/v1/clients/${id('clientId', clientId)}`, shape: 'none' }, options),
  },
  deposits: {
    create: async (body, options) =>
      call({ http: 'POST', path: '/api/partner/v1/deposits', body, money: ['amount'], keyed: true, shape: 'data' }, options),
    list: (query, options) =>
      call({ http: 'GET', path: '/api/partner/v1/deposits', query, shape: 'page' }, options),
    get: async (depositId, options) =>
      call({ http: 'GET', path: `/api/partner/v1/deposits/${id('depositId', depositId)}`, shape: 'data' }, options),
    cancel: async (depositId, body, options) =>
      call({ http: 'POST', path: `/api/partner/v1/deposits/${id('depositId', depositId)}/cancel`, body, keyed: true, shape: 'data' }, options),
    release: async (depositId, body, options) =>
      call({ http: 'POST', path: `/api/partner/v1/deposits/${id('depositId', depositId)}/release`, body, keyed: true, shape: 'data' }, options),
    capture: async (depositId, body, options) =>
      call({ http: 'POST', path: `/api/partner/v1/deposits/${id('depositId', depositId)}/capture`, body, money: ['amount'], keyed: true, shape: 'data' }, options),
    sendLink: async (depositId, body, options) =>
      call({ http: 'POST', path: `/api/partner/v1/deposits/${id('depositId', depositId)}/send-link`, body, keyed: true, shape: 'data' }, options),
    sendLinkBatch: async (depositId, body, options) =>
      call({ http: 'POST', path: `/api/partner/v1/deposits/${id('depositId', depositId)}/send-link/batch`, body, keyed: true, shape: 'data' }, options),
  },
  test: {
    simulate: async (depositId, body, options) =>
      call({ http: 'POST', path: `/api/partner/v1/test/deposits/${id('depositId', depositId)}/simulate`, body, shape: 'data' }, options),
  },
});

package partnerapi_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/platform/idempotent"
	ports "partnerdeposits/ports/platform"
)

// succeed sends a good request, by GET, and by HEAD where a GET is documented. A list has a next page, and its link
// works.
func (w *walk) succeed() {
	w.t.Helper()
	s := w.other.stage(w.t)
	q := w.rows.good(s)
	r := s.send(w.operation, q)
	require.Less(w.t, r.status, http.StatusBadRequest, "%s", r.body)
	r.headersFit(w.t)
	require.Empty(w.t, r.header.Get(replayed))
	if w.method == http.MethodGet {
		head := s.do(http.MethodHead, w.target(q), nil)
		require.Equal(w.t, r.status, head.status)
		require.Empty(w.t, head.body)
		require.Equal(w.t, r.header.Get("Content-Type"), head.header.Get("Content-Type"))
	}
	if !w.lists() {
		require.Empty(w.t, r.header.Get("Link"))
		return
	}
	all := r.list()
	require.Greater(w.t, len(all), 1, "a good request of a list finds two items")
	require.Empty(w.t, r.header.Get("Link"), "a list that ends")
	q.query = joined(q.query, "limit=1")
	var seen []object
	for target := w.target(q); target != ""; {
		page := s.get(target)
		page.headersFit(w.t)
		seen = append(seen, page.list()...)
		pagination := page.parsed().Pagination
		require.Equal(w.t, pagination.HasMore, pagination.NextCursor != nil)
		link := page.header.Get("Link")
		require.Equal(w.t, pagination.HasMore, link != "")
		if target = ""; link != "" {
			require.Contains(w.t, link, *pagination.NextCursor)
			address, rel, _ := strings.Cut(link, ";")
			require.Equal(w.t, ` rel="next"`, rel)
			target = strings.TrimPrefix(strings.Trim(address, "<>"), apiBase+partnerapi.Prefix)
		}
	}
	for _, item := range append(slices.Clone(all), seen...) {
		delete(item, "lastUsedAt") // each request is a use
	}
	require.Equal(w.t, all, seen)
}

func joined(query, more string) string {
	if query == "" {
		return more
	}
	return query + "&" + more
}

// keys tries an operation without key, with a wrong key and with a revoked key.
func (w *walk) keys() {
	w.t.Helper()
	s := w.other.stage(w.t)
	q := w.rows.good(s)
	w.refused(s, "missing_api_key", q, "x-api-key", "")
	w.refused(s, "invalid_api_key", q, "x-api-key", "svc_pk_test_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	w.refused(s, "api_key_revoked", q, "x-api-key", s.revokedKey())
}

// revokedKey gives a key of the partner that is revoked.
func (c *caller) revokedKey() string {
	c.t.Helper()
	made, plain, err := c.Partners.CreateKey(c.t.Context(), c.partner.Slug, "old")
	require.NoError(c.t, err)
	_, err = c.Partners.RevokeKey(c.t.Context(), "key_"+made.ID.Encode())
	require.NoError(c.t, err)
	return plain.Reveal()
}

// bodies tries bodies that are no JSON, too large, or of the wrong type, also where an operation takes no body.
func (w *walk) bodies() {
	w.t.Helper()
	s := w.other.stage(w.t)
	q := w.rows.good(s)
	raw := q
	raw.raw = `{"broken`
	w.refused(s, "invalid_json", raw)
	w.refused(s, "unsupported_media_type", raw, "content-type", "text/plain")
	w.refused(s, "unsupported_media_type", raw, "content-encoding", "gzip")
	raw.raw = `{"x":"\u0000"}`
	w.refused(s, "invalid_field", raw)
	raw.raw = `{"x":"` + strings.Repeat("x", 100<<10) + `"}`
	w.refused(s, "payload_too_large", raw)
	if w.schema() == nil {
		return
	}
	if w.RequestBody.Value.Required {
		none := q
		none.body = nil
		w.refused(s, "invalid_json", none)
	}
	without := func(name string, value any, present bool) sent {
		changed := q
		changed.body = maps.Clone(q.body)
		if changed.body == nil {
			changed.body = object{}
		}
		if changed.body[name] = value; !present {
			delete(changed.body, name)
		}
		return changed
	}
	for _, name := range w.schema().Required {
		w.refused(s, "missing_field", without(name, nil, false))
	}
	for name, property := range w.schema().Properties {
		wrong := any([]any{})
		if property.Value.Type.Is(openapi3.TypeArray) {
			wrong = 7
		}
		w.refused(s, "invalid_field", without(name, wrong, true))
		if !property.Value.Type.Includes(openapi3.TypeNull) {
			w.refused(s, "invalid_field", without(name, nil, true))
		}
	}
}

// notFound has the error code of an unknown id, by the name of the path parameter.
var notFound = map[string]string{
	"accountId": "account_not_found", "clientId": "client_not_found", "webhookId": "webhook_not_found",
	"deliveryId": "delivery_not_found",
	"depositId":  "deposit_not_found", "eventId": "event_not_found", "keyId": "api_key_not_found",
	"apiKeyId": "api_key_not_found",
}

// ids tries unknown ids in the path, another partner's deposit, a path that is no route, and a method that the path
// lacks.
func (w *walk) ids() {
	w.t.Helper()
	s := w.other.stage(w.t)
	q := w.rows.good(s)
	for i, name := range w.operation.ids {
		unknown := q
		unknown.ids = slices.Clone(q.ids)
		unknown.ids[i] = unknown.ids[i][:len(unknown.ids[i])-26] + "01jb2m4q8e7w9x3c5v6b7n8m9a"
		require.Contains(w.t, notFound, name)
		w.refused(s, notFound[name], unknown)
		if name == "depositId" {
			foreign := q
			foreign.ids = []string{w.other.ids["dep"]}
			w.refused(s, "deposit_access_denied", foreign)
		}
	}
	nowhere := attempt{w.operation, s, "route_not_found", q, nil}
	nowhere.path += "/is/nowhere"
	w.attempts = append(w.attempts, nowhere)
	wrong := attempt{w.operation, s, "method_not_allowed", q, nil}
	wrong.method = http.MethodPut
	w.attempts = append(w.attempts, wrong)
}

// filters tries values that the parameters of the query forbid.
func (w *walk) filters() {
	w.t.Helper()
	s := w.other.stage(w.t)
	q := w.rows.good(s)
	for _, p := range w.query {
		schema, code := p.Schema.Value, "invalid_field"
		bound := schema.Type.Is(openapi3.TypeInteger) || schema.Type.Is(openapi3.TypeArray) || len(schema.Enum) > 0 ||
			schema.Format != ""
		if p.Name == "cursor" {
			code, bound = "invalid_cursor", true
		}
		if bound {
			wrong := q
			wrong.query = joined(q.query, p.Name+"=nonsense")
			w.refused(s, code, wrong)
		}
	}
}

// idempotency tries a malformed key, a key whose request still runs, a replay, and a key with another body.
func (w *walk) idempotency() {
	w.t.Helper()
	if !w.keyed() {
		return
	}
	s := w.other.stage(w.t)
	q := w.rows.good(s)
	w.refused(s, "invalid_idempotency_key", q, "idempotency-key", "no-uuid")

	key := newKey()
	parsed, err := idempotent.ParseKey(key)
	require.NoError(w.t, err)
	path, _, _ := strings.Cut(w.target(q), "?")
	s.Write(func(ctx context.Context, repos *postgres.Store) error {
		_, err := repos.Idempotency.Claim(ctx,
			ports.IdempotencyKey{Owner: s.partner.ID, Route: w.method + " " + partnerapi.Prefix + path, Key: parsed}, time.Now())
		require.NoError(w.t, err)
		w.refused(s, "idempotency_key_in_use", q, "idempotency-key", key)
		w.attempted()
		return nil
	})
	first := s.send(w.operation, q, "idempotency-key", key)
	require.Less(w.t, first.status, http.StatusBadRequest, "the key was free again: %s", first.body)
	before := s.snapshot(w.t)
	second := s.send(w.operation, q, "idempotency-key", key)
	first.again(second)
	second.headersFit(w.t)
	require.Equal(w.t, before, s.snapshot(w.t))

	other := q
	other.body = maps.Clone(q.body)
	if other.body == nil {
		other.body = object{}
	}
	other.body["unknownField"] = 1
	w.refused(s, "idempotency_key_reused", other, "idempotency-key", key)
}

// limits tries an operation when the partner has no request left.
func (w *walk) limits() {
	w.t.Helper()
	s := w.other.stage(w.t)
	q := w.rows.good(s)
	require.NoError(w.t, s.Partners.SetRateLimit(w.t.Context(), s.partner.Slug, 1))
	s.get("/me")
	w.refused(s, "rate_limited", q)
}

// defects tries an operation that panics.
func (w *walk) defects() {
	w.t.Helper()
	s := w.other.stage(w.t)
	q := w.rows.good(s)
	s.defect.Store(true)
	defer s.defect.Store(false)
	w.refused(s, "internal_error", q)
	w.attempted()
}

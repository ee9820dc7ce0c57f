package partnerapi_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/platform/idempotent"
	ports "partnerdeposits/ports/platform"
)

// walk checks the responses of an operation and keeps the codes that it has provoked.
type walk struct {
	operation
	t        *testing.T
	stage    *stage
	good     sent
	provoked map[string]bool
}

// refused sends a request that must be refused with a code.
func (w *walk) refused(code string, q sent, header ...string) reply {
	w.t.Helper()
	return w.refusedOf(w.stage, w.operation, code, q, header...)
}

func (w *walk) refusedOf(s *stage, o operation, code string, q sent, header ...string) reply {
	w.t.Helper()
	r := s.send(o, q, header...)
	require.Equal(w.t, code, r.parsed().Error.Code, "%s %s: %d %s", o.method, o.target(q), r.status, r.body)
	r.headersFit(w.t, slices.Contains(header, "content-encoding"))
	require.Empty(w.t, r.header.Get(replayed))
	s.other.unseen(w.t, r)
	w.provoked[code] = true
	return r
}

// unchanged checks that do changes no row of any table.
func (w *walk) unchanged(do func()) {
	w.t.Helper()
	before := w.stage.snapshot(w.t)
	do()
	require.Equal(w.t, before, w.stage.snapshot(w.t), "a refused request has changed something")
}

// rowsOfItsOwn sends the requests that only the operation's own rules refuse.
func (w *walk) rowsOfItsOwn() {
	w.t.Helper()
	prepared := map[string]func(){}
	for code, prepare := range w.rows.refused {
		s := w.stage.other.stage(w.t)
		q := prepare(s)
		prepared[code] = func() { w.refusedOf(s, w.operation, code, q) }
	}
	w.unchanged(func() {
		for _, send := range prepared {
			send()
		}
	})
}

// succeed sends the good request, with a key where the operation takes one, and by HEAD where a GET is documented.
func (w *walk) succeed() {
	w.t.Helper()
	s, q := w.stage, w.good
	var header []string
	key := newKey()
	if w.keyed() {
		w.keyInUse(key)
		header = []string{"idempotency-key", key}
	}
	r := s.send(w.operation, q, header...)
	require.Less(w.t, r.status, http.StatusMultipleChoices, "%s", r.body)
	r.headersFit(w.t)
	require.Empty(w.t, r.header.Get(replayed))
	s.other.unseen(w.t, r)
	if w.keyed() {
		w.unchanged(func() { w.replays(r, key) })
	}
	if w.method == http.MethodGet {
		head := s.do(http.MethodHead, w.target(q), nil)
		require.Equal(w.t, r.status, head.status)
		require.Empty(w.t, head.body)
		require.Equal(w.t, r.header.Get("Content-Type"), head.header.Get("Content-Type"))
	}
	if w.lists() {
		w.follow(r)
	} else {
		require.Empty(w.t, r.header.Get("Link"))
	}
}

// keyInUse tries a malformed key, and a key whose request still runs.
func (w *walk) keyInUse(key string) {
	w.t.Helper()
	w.refused("invalid_idempotency_key", w.good, "idempotency-key", "no-uuid")
	parsed, err := idempotent.ParseKey(key)
	require.NoError(w.t, err)
	w.stage.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		_, err := repos.Idempotency.ClaimKey(ctx, ports.IdempotencyKey{Owner: w.stage.partner.ID,
			Route: w.method + " " + partnerapi.PathPrefix + w.target(w.good), Key: parsed}, time.Now())
		require.NoError(w.t, err)
		w.unchanged(func() { w.refused("idempotency_key_in_use", w.good, "idempotency-key", key) })
		return nil
	})
}

// replays repeats a request whose response is kept by Redis, and by Postgres alone, and sends another body.
func (w *walk) replays(first reply, key string) {
	w.t.Helper()
	s := w.stage
	first.again(s.send(w.operation, w.good, "idempotency-key", strings.ToUpper(key)))
	require.NoError(w.t, s.redis.FlushDB(w.t.Context()).Err())
	second := s.send(w.operation, w.good, "idempotency-key", `"`+key+`"`)
	first.again(second)
	second.headersFit(w.t)
	other := maps.Clone(w.good.body)
	if other == nil {
		other = object{}
	}
	other["unknownField"] = 1
	w.refused("idempotency_key_reused", w.good.with(other), "idempotency-key", key)
}

// follow reads a list again in pages of one. A cursor is a place, and no permission.
func (w *walk) follow(whole reply) {
	w.t.Helper()
	all := whole.list()
	require.Greater(w.t, len(all), 1, "a good request of a list finds two items")
	require.Empty(w.t, whole.header.Get("Link"), "a list that ends")
	q := w.good
	q.query = joined(q.query, "limit=1")
	var seen []object
	for target := w.target(q); target != ""; {
		page := w.stage.get(target)
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
			target = strings.TrimPrefix(strings.Trim(address, "<>"), apiBase+partnerapi.PathPrefix)
			foreign := string(w.stage.other.get(target).body)
			for _, item := range all {
				id, _ := cmp.Or(item["id"], item["accountId"]).(string)
				require.NotContains(w.t, foreign, id, "another partner with this cursor")
			}
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

// keys tries an operation without key, with a wrong key, with a key of another environment and with a revoked key.
func (w *walk) keys() {
	w.t.Helper()
	_, random, _ := strings.Cut(w.stage.key, "svc_pk_test_")
	w.refused("missing_api_key", w.good, "x-api-key", "")
	w.refused("invalid_api_key", w.good, "x-api-key", w.stage.key[:len(w.stage.key)-1]+"!")
	w.refused("invalid_api_key", w.good, "x-api-key", "svc_pk_live_"+random)
	w.refused("api_key_revoked", w.good, "x-api-key", w.stage.other.revoked)
}

// bodies tries bodies that are no JSON, too large, or of the wrong type, also where an operation takes no body.
func (w *walk) bodies() {
	w.t.Helper()
	q := w.good
	q.raw = `{"broken`
	w.refused("invalid_json", q)
	w.refused("unsupported_media_type", q, "content-type", "text/plain")
	w.refused("unsupported_media_type", q, "content-encoding", "gzip")
	q.raw = `{"x":"\u0000"}`
	w.refused("invalid_field", q)
	q.raw = `{"x":"` + strings.Repeat("x", 100<<10) + `"}`
	w.refused("payload_too_large", q)
	if w.body() == nil {
		q.raw = `{"unknownField":null}`
		w.refused("unknown_field", q)
		q.raw = `[]`
		w.refused("invalid_json", q)
		return
	}
	for _, more := range withUnknown(w.body().Schema.Value, w.good.body) {
		w.refused("unknown_field", w.good.with(more.(object)))
	}
	if w.RequestBody.Value.Required {
		w.refused("invalid_json", sent{ids: q.ids, bare: true})
	}
	schema := w.body().Schema.Value
	for _, name := range schema.Required {
		without := maps.Clone(w.good.body)
		delete(without, name)
		w.refused("missing_field", w.good.with(without))
	}
	with := func(name string, value any) sent {
		changed := maps.Clone(w.good.body)
		changed[name] = value
		return w.good.with(changed)
	}
	for name, property := range schema.Properties {
		wrong := any([]any{})
		if property.Value.Type.Is(openapi3.TypeArray) {
			wrong = 7
		}
		w.refused("invalid_field", with(name, wrong))
		if !property.Value.Type.Includes(openapi3.TypeNull) {
			w.refused("invalid_field", with(name, nil))
		}
		if prefix, isID := prefixOf[name]; isID {
			w.forged(prefix, refusedField[name], func(id string) sent { return with(name, id) })
		}
	}
}

// withUnknown gives copies of a value, each with an unknown field in another one of its objects.
func withUnknown(s *openapi3.Schema, value any) (all []any) {
	switch v := value.(type) {
	case object:
		if s.AdditionalProperties.Schema != nil {
			return nil // a map has no unknown fields
		}
		with := func(name string, value any) {
			changed := maps.Clone(v)
			changed[name] = value
			all = append(all, changed)
		}
		with("unknownField", nil)
		for name, inner := range v {
			for _, changed := range withUnknown(s.Properties[name].Value, inner) {
				with(name, changed)
			}
		}
	case []any:
		for i, item := range v {
			for _, changed := range withUnknown(s.Items.Value, item) {
				list := slices.Clone(v)
				list[i] = changed
				all = append(all, list)
			}
		}
	}
	return all
}

// prefixOf maps names of parameters and fields to the prefix of their ids.
var prefixOf = map[string]string{
	"accountId": "acct", "clientId": "cli", "webhookId": "pwh", "deliveryId": "dlv", "depositId": "dep", "eventId": "evt",
	"keyId": "key",
}

// notFound has the error code of an unknown id in the path, by its prefix, and refusedField that of one in a body.
var (
	notFound = map[string]string{"acct": "account_not_found", "cli": "client_not_found", "pwh": "webhook_not_found",
		"dlv": "delivery_not_found", "dep": "deposit_not_found", "evt": "event_not_found", "key": "api_key_not_found"}
	refusedField = map[string]string{"accountId": "account_not_linked", "clientId": "invalid_client"}
)

const unknownID = "_01jb2m4q8e7w9x3c5v6b7n8m9a"

// forged tries ids that the caller does not have, of the neighbour as well. An unknown id and an id of the neighbour
// have the same answer, except that a deposit of another partner is a 403 (api.md §1, "Foreign objects").
func (w *walk) forged(prefix, code string, with func(id string) sent) {
	w.t.Helper()
	theirs, ok := w.stage.other.ids[prefix]
	require.True(w.t, ok, "newNeighbour makes no %s", prefix)
	unknown := w.refused(code, with(prefix+unknownID))
	if prefix == "dep" {
		w.refused("deposit_access_denied", with(theirs))
	} else {
		sameRefusal(w.t, unknown, w.refused(code, with(theirs)))
	}
	digits := theirs[len(prefix):]
	for _, id := range []string{strings.ToUpper(theirs), theirs + "0", digits[1:], "prt" + digits} {
		w.refused(code, with(id))
	}
}

// sameRefusal checks that two answers tell nothing apart, except their request ids.
func sameRefusal(t testing.TB, a, b reply) {
	t.Helper()
	one, two := a.parsed().Error, b.parsed().Error
	require.Equal(t, []any{a.status, one.Code, one.Message}, []any{b.status, two.Code, two.Message})
	for _, h := range []http.Header{a.header, b.header} {
		for _, changing := range []string{"Date", "X-Request-Id", "Ratelimit", "Content-Length"} {
			h.Del(changing)
		}
	}
	require.Equal(t, a.header, b.header)
}

// ids tries ids of others in the path, texts that are no id, a path that is no route, and a method that the path lacks.
func (w *walk) ids() {
	w.t.Helper()
	for i, name := range w.operation.ids {
		prefix, ok := prefixOf[name]
		require.True(w.t, ok, "%s: tell its prefix in prefixOf", name)
		with := func(id string) sent {
			q := w.good
			q.ids = slices.Clone(q.ids)
			q.ids[i] = id
			return q
		}
		w.forged(prefix, notFound[prefix], with)
		for _, text := range []string{"\x00", "%", "😀", "../accounts", "'; DROP TABLE deposits; --", "x\r\nX-Injected: 1",
			strings.Repeat("a", 10_000)} {
			r := w.refused(notFound[prefix], with(url.PathEscape(text)))
			require.Empty(w.t, r.header.Get("X-Injected"))
		}
	}
	nowhere, put := w.operation, w.operation
	nowhere.path += "/is/nowhere"
	w.refusedOf(w.stage, nowhere, "route_not_found", w.good)
	put.method = http.MethodPut
	w.refusedOf(w.stage, put, "method_not_allowed", w.good)
}

// filters sends the example of each parameter of the query, ids of others, which find nothing, forbidden and empty
// values, and unknown parameters.
func (w *walk) filters() {
	w.t.Helper()
	with := func(name string, value any) sent {
		q := w.good
		q.query = joined(q.query, name+"="+url.QueryEscape(fmt.Sprint(value)))
		return q
	}
	w.refused("unknown_field", with("unknownField", ""))
	for _, p := range w.query {
		w.refused("unknown_field", with(strings.ToUpper(p.Name), 1))
		w.refused("invalid_field", with(p.Name, ""))
		schema, code := p.Schema.Value, "invalid_field"
		bound := schema.Type.Is(openapi3.TypeInteger) || schema.Type.Is(openapi3.TypeArray) || len(schema.Enum) > 0 ||
			schema.Format != ""
		if p.Name == "cursor" {
			code, bound = "invalid_cursor", true
		}
		if bound {
			w.refused(code, with(p.Name, "nonsense"))
		}
		if prefix, isID := prefixOf[p.Name]; isID {
			for _, id := range []string{prefix + unknownID, w.stage.other.ids[prefix]} {
				require.Empty(w.t, w.stage.send(w.operation, with(p.Name, id)).list())
			}
		}
		if p.Example != nil {
			value := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(p.Example), "[]")), ",")
			w.stage.send(w.operation, with(p.Name, value)).list()
		}
	}
}

// limit tries an operation when the partner has no request left.
func (w *walk) limit() {
	w.t.Helper()
	require.NoError(w.t, w.stage.Partners.SetRateLimit(w.t.Context(), w.stage.partner.Slug, 1))
	w.stage.get("/me")
	w.unchanged(func() { w.refused("rate_limited", w.good) })
}

// defect tries an operation that panics.
func (w *walk) defect() {
	w.t.Helper()
	w.stage.defect.Store(true)
	defer w.stage.defect.Store(false)
	w.refused("internal_error", w.good)
}

package partnerapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// prefixOf maps names of parameters and fields to the prefix of their ids.
var prefixOf = map[string]string{
	"accountId": "acct", "clientId": "cli", "webhookId": "pwh", "deliveryId": "dlv", "depositId": "dep", "eventId": "evt",
	"keyId": "key", "apiKeyId": "key",
}

// refusedField maps fields of bodies to the code for an id that is not the caller's.
var refusedField = map[string]string{"accountId": "account_not_linked", "clientId": "invalid_client"}

const unknownID = "_01jb2m4q8e7w9x3c5v6b7n8m9a"

// malformed are texts that are no id.
var malformed = []string{
	" ", "\x00", "nonsense", "null", "0", "-1", "*", "%", "é", "😀", "a/b", "../accounts", "..%2f..",
	`'; DROP TABLE deposits; --`, "x\r\nX-Injected: 1",
	strings.Repeat("a", 10_000), "\u202e", "١٢٣",
}

// forged are ids that the caller does not have: of other kinds, of the neighbour in other spellings, and no ids at all.
func (n *neighbour) forged(prefix string) (all []string) {
	for other, theirs := range n.ids {
		_, digits, _ := strings.Cut(theirs, "_")
		if other != prefix {
			all = append(all, theirs, prefix+"_"+digits)
		}
	}
	all = append(all, prefix, prefix+"_", prefix+"_"+strings.Repeat("z", 26), prefix+"_"+strings.Repeat("0", 26),
		"x"+unknownID)
	if theirs, ok := n.ids[prefix]; ok {
		all = append(all, strings.ToUpper(theirs), theirs+"0", theirs[:len(theirs)-1], " "+theirs, theirs[len(prefix)+1:])
	}
	return append(all, malformed...)
}

// absent fails when an answer holds a datum of the partner beyond what the request sent.
func (c *caller) absent(t testing.TB, r reply, more ...string) {
	t.Helper()
	seen := string(r.body) + fmt.Sprint(r.header)
	for _, datum := range append(more, c.partner.Slug, c.partner.Name, c.key, c.keyID, c.partner.ID.Encode()) {
		require.NotContains(t, seen, datum)
	}
}

func (n *neighbour) data() (all []string) {
	for _, theirs := range n.ids {
		_, digits, _ := strings.Cut(theirs, "_")
		all = append(all, digits)
	}
	return append(all, "neighbours", "NEIGHBOURS", "Nadja", "Nachbarin", "secret.example")
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

// The matrix: every operation with keys that are none, and with ids of another partner, of another kind and of no form.
// Nothing leaks, and nothing changes.
func TestMatrix_EveryOperation_KeysAndIDsOfOthers(t *testing.T) {
	t.Parallel()
	_, other := contractWorld(t)
	for _, o := range operations(t) {
		t.Run(o.OperationID, func(t *testing.T) {
			s := other.stage(t)
			m := &matrix{operation: o, t: t, s: s, good: o.rows.good(s)}
			revoked := s.revokedKey()
			before := s.snapshot(t)
			m.reads()
			m.keys(revoked)
			m.path()
			m.body()
			m.filters()
			require.Equal(t, before, s.snapshot(t), "something has changed")
		})
	}
}

// matrix tries an operation.
type matrix struct {
	operation
	t    *testing.T
	s    *stage
	good sent
}

// send sends a request whose answer may hold no datum of the neighbour.
func (m *matrix) send(q sent, header ...string) reply {
	m.t.Helper()
	r := m.s.send(m.operation, q, header...)
	require.Less(m.t, r.status, http.StatusInternalServerError, "%s", r.body)
	m.s.other.absent(m.t, r, m.s.other.data()...)
	require.Empty(m.t, r.header.Get("X-Injected"))
	return r
}

// reads sends a good request that reads: its answer holds objects of the caller alone.
func (m *matrix) reads() {
	m.t.Helper()
	if m.method == http.MethodGet {
		require.Equal(m.t, http.StatusOK, m.send(m.good).status)
	}
}

func (m *matrix) keys(revoked string) {
	m.t.Helper()
	_, random, _ := strings.Cut(m.s.key, "svc_pk_test_")
	for _, k := range []struct{ name, key, code string }{
		{"none", "", "missing_api_key"},
		{"wrong", m.s.key[:len(m.s.key)-1] + "!", "invalid_api_key"},
		{"of production", "svc_pk_live_" + random, "invalid_api_key"},
		{"a connect secret", "svc_cs_" + random, "invalid_api_key"},
		{"revoked", revoked, "api_key_revoked"},
	} {
		r := m.send(m.good, "x-api-key", k.key)
		r.refused(http.StatusUnauthorized, k.code)
		m.s.absent(m.t, r)
	}
}

// path tries ids in the path. An unknown id and an id of the neighbour have the same answer, except that a deposit of
// another partner is a 403 (api.md §1, "Foreign objects").
func (m *matrix) path() {
	m.t.Helper()
	for i, name := range m.operation.ids {
		prefix, ok := prefixOf[name]
		require.True(m.t, ok, "%s: tell its prefix in prefixOf", name)
		with := func(sent string) reply {
			m.t.Helper()
			q := m.good
			q.ids = slices.Clone(q.ids)
			q.ids[i] = sent
			return m.send(q)
		}
		unknown := with(prefix + unknownID)
		unknown.refused(http.StatusNotFound, notFound[name])
		require.NotEmpty(m.t, m.s.other.ids[prefix], "newNeighbour makes no %s", prefix)
		foreign := with(m.s.other.ids[prefix])
		if prefix == "dep" {
			foreign.refused(http.StatusForbidden, "deposit_access_denied")
		} else {
			sameRefusal(m.t, unknown, foreign)
		}
		for _, forged := range m.s.other.forged(prefix) {
			with(url.PathEscape(forged)).refused(http.StatusNotFound, notFound[name])
		}
		m.tricks(with)
	}
}

// tricks tries texts that make the path another path. Its route may answer with objects of the caller.
func (m *matrix) tricks(with func(string) reply) {
	m.t.Helper()
	checked := m.s.http
	m.s.http = &http.Client{Transport: m.s.transport} // the document has no such path
	for _, trick := range []string{"", ".", "..", "../..", "%2e%2e", "%252e", "//", ";a=b", "a?b", "%00", "%c0%ae", "#x"} {
		with(trick)
	}
	m.s.http = checked
}

// body tries ids in the fields of the body.
func (m *matrix) body() {
	m.t.Helper()
	if m.schema() == nil {
		return
	}
	for name := range m.schema().Properties {
		prefix, ok := prefixOf[name]
		if !ok {
			continue
		}
		with := func(sent string) reply {
			q := m.good
			q.body = object{}
			for field, value := range m.good.body {
				q.body[field] = value
			}
			q.body[name] = sent
			return m.send(q)
		}
		unknown := with(prefix + unknownID)
		require.Equal(m.t, refusedField[name], unknown.parsed().Error.Code)
		sameRefusal(m.t, unknown, with(m.s.other.ids[prefix]))
		for _, forged := range append(m.s.other.forged(prefix), "") {
			require.Contains(m.t, []string{refusedField[name], "invalid_field", "missing_field"},
				with(forged).parsed().Error.Code, forged)
		}
	}
}

// filters tries ids in the query: a list finds nothing.
func (m *matrix) filters() {
	m.t.Helper()
	for _, p := range m.query {
		prefix, ok := prefixOf[p.Name]
		if !ok {
			continue
		}
		with := func(sent string) reply {
			q := m.good
			q.query = joined(q.query, p.Name+"="+url.QueryEscape(sent))
			return m.send(q)
		}
		require.Empty(m.t, with(prefix+unknownID).list())
		require.Empty(m.t, with(m.s.other.ids[prefix]).list())
		for _, forged := range append(m.s.other.forged(prefix), "") {
			if r := with(forged); r.status != http.StatusBadRequest {
				require.Empty(m.t, r.list(), forged)
			}
		}
	}
}

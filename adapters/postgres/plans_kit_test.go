package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/storetest"
)

// statements notes the texts of the statements that run on a pool: the Tracer of its PoolOptions.
type statements struct {
	mu    sync.Mutex
	texts []string
}

var planned = regexp.MustCompile(`(?i)^\s*(with|select|insert|update|delete)\b`)

func (s *statements) note(sql string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if planned.MatchString(withoutComments(sql)) && !strings.Contains(sql, "pg_stat_get_live_tuples") &&
		!slices.Contains(s.texts, sql) {
		s.texts = append(s.texts, sql)
	}
}

func withoutComments(sql string) string {
	return regexp.MustCompile(`(?m)^\s*--.*$`).ReplaceAllString(sql, "")
}

// take returns the noted texts and forgets them.
func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := s.texts
	s.texts = nil
	return texts
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	s.note(q.SQL)
	return ctx
}
func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	s.note(q.SQL)
}
func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// accesses explains the generic plan of a statement, with the settings of the pool's connections. The result names
// every index that the plan reads with the number of its conditions, and every table that the plan reads as a whole.
func accesses(t testing.TB, pool *pgxpool.Pool, sql string) []string {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	run := func(sql string) {
		_, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err, sql)
	}
	run(`SET plan_cache_mode = force_generic_plan`)
	defer run(`RESET plan_cache_mode`)
	run("PREPARE asked AS " + sql)
	defer run(`DEALLOCATE asked`)
	return explained(t, conn.Conn(), "asked")
}

// explained lists the accesses, as accesses does, in the cached plan of the statement that conn has prepared under
// name.
func explained(t testing.TB, conn *pgx.Conn, name string) []string {
	t.Helper()
	var parameters int
	require.NoError(t,
		conn.QueryRow(t.Context(), `SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = $1`,
			pgx.QueryExecModeSimpleProtocol, name).Scan(&parameters))
	execute := "EXECUTE " + name
	if parameters > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", parameters), ", ") + ")"
	}
	var text string
	require.NoError(t,
		conn.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) "+execute, pgx.QueryExecModeSimpleProtocol).Scan(&text), name)
	var plans []struct{ Plan plan }
	require.NoError(t, json.Unmarshal([]byte(text), &plans))
	found := map[string]bool{}
	plans[0].Plan.reads(found)
	return sortedKeys(found)
}

type plan struct {
	NodeType  string `json:"Node Type"`
	Relation  string `json:"Relation Name"`
	Index     string `json:"Index Name"`
	IndexCond string `json:"Index Cond"`
	Plans     []plan
}

// partition is the suffix of a partition in the name of a table or an index.
var partition = regexp.MustCompile(`_(\d{8}|rest)`)

func (p plan) reads(found map[string]bool) {
	switch {
	case strings.HasPrefix(p.Relation, "partners"): // a table of few rows
	case p.Index != "":
		conditions := 0
		if p.IndexCond != "" {
			conditions = 1 + strings.Count(p.IndexCond, " AND ")
		}
		found[fmt.Sprintf("%s/%d", partition.ReplaceAllString(p.Index, ""), conditions)] = true
	case p.NodeType == "Bitmap Heap Scan": // reads the rows that the indexes below name
	case strings.HasSuffix(p.NodeType, "Scan") && p.Relation != "":
		found[p.NodeType+" of "+partition.ReplaceAllString(p.Relation, "")] = true
	}
	for _, child := range p.Plans {
		child.reads(found)
	}
}

func sortedKeys(m map[string]bool) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// grow inserts n rows into the tables, or into every table that grows with use. The rows belong to the partner and the
// account of origin.
func grow(t testing.TB, pool *pgxpool.Pool, n int, tables ...string) {
	t.Helper()
	for _, sql := range []string{
		`INSERT INTO partners (id, slug, name, created_at)
			SELECT gen_random_uuid(), 'm-' || left(gen_random_uuid()::text, 30), 'P', now()
			FROM generate_series(1, $1 / 100 + 1)`,
		`INSERT INTO operators (id, email, email_key, password_hash, created_at)
			SELECT gen_random_uuid(), i || '@many.example', i || clock_timestamp()::text, 'h', now()
			FROM generate_series(1, $1) i`,
		`INSERT INTO accounts (id, operator_id, company_name, created_at) SELECT gen_random_uuid(), id, 'C', now()
			FROM operators o
			WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.operator_id = o.id) LIMIT $1`,
		`INSERT INTO account_links (id, partner_id, account_id, external_id, linked_at)
			SELECT gen_random_uuid(), p.id, a.id, a.id::text, now() FROM (SELECT id FROM partners LIMIT 1) p, accounts a
			WHERE NOT EXISTS (SELECT FROM account_links l WHERE l.account_id = a.id) LIMIT $1`,
		`INSERT INTO clients (id, account_id, partner_id, email, first_name, last_name, created_at)
			SELECT gen_random_uuid(), a.id, p.id, 'a@b.example', 'A', 'B', now() FROM (SELECT id FROM partners
			LIMIT 1) p, accounts a LIMIT $1`,
		`INSERT INTO api_keys (id, partner_id, name, prefix, last4, hash, created_at)
			SELECT gen_random_uuid(), p.id, 'k', 'svc', 'abcd', sha256(gen_random_uuid()::text::bytea), now() FROM (SELECT id
			FROM partners LIMIT 1) p, generate_series(1, $1)`,
		`INSERT INTO deposits (id, reference, status, version, account_id, partner_id, by_partner_api, amount_cents,
			contract_start_at, contract_end_at,
				url_generation, checkout_token_hash, checkout_token, checkout_expires_at, created_at, updated_at)
			SELECT gen_random_uuid(), gen_random_uuid()::text, 'pending', 1, l.account_id, l.partner_id, true, 50000, now(),
			now(), false,
				sha256(gen_random_uuid()::text::bytea), 'x', now(), now() - i * interval '1 second', now()
			FROM (SELECT * FROM account_links LIMIT 1) l, generate_series(1, $1) i`,
		`INSERT INTO deposit_timers (kind, due_at, deposit_id)
			SELECT 'checkout', now() + i * interval '1 second', gen_random_uuid() FROM generate_series(1, $1) i`,
		`INSERT INTO deposit_transitions (deposit_id, version, from_status, to_status, trigger, at, actor)
			SELECT gen_random_uuid(), 2, 'pending', 'active', 't', now(), 'a' FROM generate_series(1, $1)`,
		`INSERT INTO idempotency_keys (partner_id, route, key, fingerprint, status, response, created_at)
			SELECT p.id, 'POST /api/partner/v1/deposits', gen_random_uuid(), sha256('x'), 201, 'x',
			now() - i * interval '1 second'
			FROM (SELECT id FROM partners LIMIT 1) p, generate_series(1, $1) i`,
		`INSERT INTO outbox (event_id, partner_id, name, data, created_at)
			SELECT overlay(gen_random_uuid()::text placing left(uuid_floor(now())::text, 13) from 1)::uuid, p.id,
			'deposit.cancelled', '{}', now()
			FROM (SELECT id FROM partners LIMIT 1) p, generate_series(1, $1)`,
		`INSERT INTO events (id, partner_id, name, data, created_at, sequence)
			SELECT overlay(gen_random_uuid()::text placing left(uuid_floor(now())::text, 13) from 1)::uuid, p.id,
			'deposit.cancelled', '{}', now(), i
			FROM (SELECT id FROM partners LIMIT 1) p, generate_series(1, $1) i`,
		`INSERT INTO webhook_subscriptions (id, partner_id, url, events, secret, created_at)
			SELECT gen_random_uuid(), p.id, 'https://example.com', '{deposit.cancelled}', 'x', now()
			FROM partners p, generate_series(1, 5) LIMIT $1`,
		`INSERT INTO deliveries (subscription_id, id, event_id, event, state, due_at, body, event_at, finished_at, taken_at)
			SELECT s.id, gen_random_uuid(), gen_random_uuid(), 'deposit.cancelled', k.state, CASE WHEN k.state < 2
			AND i % 50 > 0 THEN now() + interval '1 hour' + i * interval '1 second' END,
				'{}', now(), CASE WHEN k.state = 2 THEN now() END, CASE WHEN k.state = 2 THEN now() END
			FROM (SELECT id FROM webhook_subscriptions LIMIT 1) s, generate_series(1, $1) i, LATERAL (SELECT CASE i % 10
			WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 2 END AS state) k`,
		`INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, result)
			SELECT gen_random_uuid(), 1, now(), 5, 'timeout' FROM generate_series(1, $1)`,
	} {
		if len(tables) == 0 || slices.Contains(tables, strings.Fields(sql)[2]) {
			exec(t, pool, sql, n)
		}
	}
}

// grown is the URL of a database with many rows in every table that grows. The tests that only read plans share the
// database.
func grown(t testing.TB) string {
	t.Helper()
	return pgtest.SharedDatabaseURL(t, "grown", func(url string) {
		admin := storetest.NewPool(t, url, postgres.PoolOptions{StatementTimeout: time.Minute})
		storetest.CreateDepositOrigin(t, storetest.NewStoreOverPool(t, admin, postgres.Options{}))
		grow(t, admin, 20_000)
		exec(t, admin, `INSERT INTO audit_log (id, at, actor, action, subject, request_id)
			SELECT gen_random_uuid(), now(), 'partner:' || i, 'a', 's' || i, CASE WHEN i % 2 = 0 THEN 'req_' || i END
			FROM generate_series(1, 20000) i`)
		exec(t, admin, `UPDATE clients SET email = id || '@many.example'`)
		exec(t, admin, `INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at, settled_at)
			SELECT gen_random_uuid(), d.id, k.kind, 1000, 'succeeded', now(), now(), now() - n * interval '30 minutes'
			FROM (SELECT id, row_number() OVER () AS n FROM deposits) d, (VALUES ('fee', 1), ('collection', 20)) k(kind, every)
			WHERE d.n % k.every = 0`)
		exec(t, admin, `INSERT INTO collections (payment_id, deposit_id, state, captured_at, ended_at)
			SELECT id, deposit_id, 'paid', created_at, settled_at FROM payments WHERE kind = 'collection'`)
		exec(t, admin, `INSERT INTO refunds (id, payment_id, deposit_id, amount_cents, reason, status, actor, created_at,
				check_at, settled_at)
			SELECT gen_random_uuid(), id, deposit_id, 1, 'orphaned', 'succeeded', 'a', created_at, check_at, settled_at
			FROM payments`)
		exec(t, admin, `INSERT INTO disputes
				(ref, payment_id, deposit_id, amount_cents, reason, status, created_at, changed_at)
			SELECT id::text, id, deposit_id, 1, 'fraudulent', 'lost', settled_at, settled_at FROM payments`)
		exec(t, admin, `INSERT INTO waiting_counts SELECT gen_random_uuid(), 1 FROM generate_series(1, 20000)`)
		exec(t, admin, `ANALYZE`)
	})
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
)

// RequiredRoleSettings returns the settings, by name, that the database role needs behind a pooler: the
// strictest of any pool.
func RequiredRoleSettings() map[string]string {
	settings := PoolOptions{IdleInTransaction: 10 * time.Second, Settings: IndexPlanSettings}.parameters()
	delete(settings, "application_name")
	// Omit the time zone, which only helps people who read a connection's output.
	delete(settings, "TimeZone")
	return settings
}

// CheckRoleSettings returns an error with the SQL that sets missing role settings; nil if none is missing.
func CheckRoleSettings(ctx context.Context, pool *pgxpool.Pool) error {
	wanted := RequiredRoleSettings()
	rows, err := pool.Query(ctx,
		`SELECT current_user::text, name, CASE unit WHEN 'ms' THEN setting ELSE current_setting(name) END FROM pg_settings`)
	if err != nil {
		return pg.Translate(err)
	}
	var role, name, setting string
	var missing []string
	if _, err := pgx.ForEachRow(rows, []any{&role, &name, &setting}, func() error {
		if want, known := wanted[name]; known && want != setting {
			missing = append(missing, fmt.Sprintf("ALTER ROLE %s SET %s = '%s';", pgx.Identifier{role}.Sanitize(), name, want))
		}
		return nil
	}); err != nil {
		return pg.Translate(err)
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("postgres: the role lacks settings: %s", strings.Join(missing, " "))
}

// ErrUndeclaredPooler is the error for connections that lack the settings with which the pool opened them.
var ErrUndeclaredPooler = fmt.Errorf(
	"postgres: connections lack the settings that they were opened with: set DATABASE_POOLED=true behind PgBouncer")

// ErrNoFreeConnection is the error for a Postgres server whose connections are all taken.
var ErrNoFreeConnection = errors.New("postgres: the server has no connection free")

// throughPooler matches the server's refusal of a connection in an error of PgBouncer, which has another
// SQLSTATE.
var throughPooler = regexp.MustCompile(`too many (clients|connections)|connection slots are reserved`)

// CheckConnection checks that Postgres answers with the pool's settings. ahead is how far its clock is ahead.
// Returns ErrUndeclaredPooler, ErrNoFreeConnection, or service_unavailable.
func CheckConnection(ctx context.Context, pool *pgxpool.Pool) (ahead time.Duration, err error) {
	var timeout string
	var theirs time.Time
	asked := time.Now()
	err = pool.QueryRow(ctx,
		`SELECT (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::bigint::text, clock_timestamp()`,
		pgx.QueryExecModeSimpleProtocol).Scan(&timeout, &theirs)
	switch {
	case err == nil:
	case pg.SQLStateOf(err) == pg.SQLStateTooManyConnections || throughPooler.MatchString(err.Error()):
		return 0, fmt.Errorf("%w (%w)", ErrNoFreeConnection, pg.Translate(err))
	default:
		return 0, pg.Translate(err)
	}
	if wanted, set := pool.Config().ConnConfig.RuntimeParams["statement_timeout"]; set && wanted != timeout {
		return 0, ErrUndeclaredPooler
	}
	return theirs.Sub(asked.Add(time.Since(asked) / 2)), nil
}

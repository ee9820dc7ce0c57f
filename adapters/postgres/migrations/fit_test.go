package migrations_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/lab/pgtest"
)

// A migration far behind the first needs UTF-8 and ICU. Its failure would leave half a schema.
func TestUp_OnADatabaseThatDoesNotFit_ChangesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ options, spoil, says string }{
		"not UTF-8":   {`ENCODING 'SQL_ASCII' LOCALE 'C'`, "", "its encoding is SQL_ASCII"},
		"without ICU": {`ENCODING 'UTF8'`, `DELETE FROM pg_collation WHERE collprovider = 'i'`, "und-x-icu"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := emptyDatabase(t, test.options)
			conn, err := pgx.Connect(t.Context(), database)
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close(t.Context())) }()
			_, err = conn.Exec(t.Context(), test.spoil)
			require.NoError(t, err)

			_, err = migrations.Up(t.Context(), database, nil)
			require.ErrorIs(t, err, migrations.ErrUnfit)
			require.ErrorContains(t, err, test.says)
			var tables int
			err = conn.QueryRow(t.Context(),
				`SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`).Scan(&tables)
			require.NoError(t, err)
			require.Zero(t, tables)
		})
	}
}

// emptyDatabase gives the URL of a database with the options, which lives as long as the test.
func emptyDatabase(t *testing.T, options string) string {
	t.Helper()
	server := pgtest.URL(t)
	name := "empty_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	conn, err := pgx.Connect(t.Context(), server)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE template0 "+options)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
		require.NoError(t, conn.Close(ctx))
	})
	at, err := url.Parse(server)
	require.NoError(t, err)
	at.Path = "/" + name
	return at.String()
}

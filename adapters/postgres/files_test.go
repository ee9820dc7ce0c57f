package postgres_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
)

func TestFileContents_AreEncryptedAndBoundToTheirPlace(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	contents := store.Contents
	plain := bytes.Repeat([]byte("plain words of the picture "), 30_000) // 4 pieces
	put := func() id.ID {
		fileID := portstest.NewID()
		require.NoError(t, contents.Put(t.Context(), fileID, bytes.NewReader(plain), int64(len(plain))))
		return fileID
	}
	fails := func(fileID id.ID, what string) {
		t.Helper()
		r, err := contents.Open(t.Context(), fileID)
		if err == nil {
			_, err = io.ReadAll(r)
		}
		require.Error(t, err, what)
	}
	require.Equal(t, 4, count(t, pool, `SELECT count(*) FROM file_chunks WHERE file_id = $1`, put()))
	require.Zero(t,
		count(t, pool, `SELECT count(*) FROM file_chunks WHERE position('plain words' IN encode(data, 'escape')) > 0`))
	for what, sql := range map[string]string{
		"a changed byte": `UPDATE file_chunks SET data = set_byte(data, 99, get_byte(data, 99) # 1) WHERE file_id = $1
			AND n = 2`,
		"swapped pieces": `UPDATE file_chunks SET n = CASE n WHEN 0 THEN 1 ELSE 0 END + 100 WHERE file_id = $1
			AND n IN (0, 1)`,
		"a lost piece": `DELETE FROM file_chunks WHERE file_id = $1 AND n = 1`,
		"a lost end":   `DELETE FROM file_chunks WHERE file_id = $1 AND n = 3`,
		"a piece of another": `UPDATE file_chunks c SET data = o.data FROM file_chunks o WHERE c.file_id = $1 AND c.n = 1
			AND o.file_id <> $1 AND o.n = 1`,
		"the key of another": `UPDATE file_contents c SET key = o.key FROM file_contents o WHERE c.file_id = $1
			AND o.file_id <> $1`,
		"a piece after the last": `UPDATE file_chunks SET n = n + 1 WHERE file_id = $1 AND n = 3`,
	} {
		fileID := put()
		exec(t, pool, sql, fileID)
		if what == "swapped pieces" {
			exec(t, pool, `UPDATE file_chunks SET n = n - 100 WHERE file_id = $1 AND n >= 100`, fileID)
		}
		fails(fileID, what)
	}
}

// A rotation of the keyset writes the key of each file anew, and none of the contents.
func TestFileContents_AfterARotation_AreReadByTheirNewKey(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	contents := store.Contents
	fileID := portstest.NewID()
	require.NoError(t, contents.Put(t.Context(), fileID, bytes.NewReader([]byte("oven")), 4))
	keys := `SELECT count(*) FROM file_contents WHERE key = $1`
	var before []byte
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT key FROM file_contents`).Scan(&before))
	resealer, changed := postgres.NewResealer(store, []byte("of no ciphertext")), 0
	for _, kind := range resealer.Kinds() {
		page, err := resealer.Page(t.Context(), kind.Start())
		require.NoError(t, err)
		changed += page.Changed
	}
	require.Equal(t, 1, changed)
	require.Zero(t, count(t, pool, keys, before))
	r, err := contents.Open(t.Context(), fileID)
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "oven", string(got))
}

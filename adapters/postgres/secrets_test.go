package postgres_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

func insertClient(t testing.TB, store *postgres.Store, from deposit.Origin) tenant.Client {
	t.Helper()
	c := tenant.Client{ID: portstest.NewID(), AccountID: from.AccountID, PartnerID: from.PartnerID,
		CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
		Person:    tenant.Person{Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace"}}
	require.NoError(t,
		store.WithinTx(t.Context(), func(ctx context.Context) error { return store.Clients.Insert(ctx, c) }))
	return c
}

func TestSecrets_InADumpOfEveryTable_AreNowhereToBeRead(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	now := time.Now()
	from := storetest.CreateDepositOrigin(t, store)
	plain := map[string]string{
		"api key": "svc_pk_test_Aplain1", "connect secret": "svc_cs_Bplain2", "webhook secret": "svc_whsec_Cplain3",
		"rotated secret": "svc_whsec_Dplain4",
		"checkout token": "Eplain5token", "link in a mail": "https://d/checkout/Gplain7",
		"link in HTML":    "https://d/checkout/Hplain8",
		"stored response": `{"data":{"depositUrl":"https://d/checkout/Fplain6"}}`,
	}
	k := ports.IdempotencyKey{Owner: from.PartnerID, Route: "POST /deposits", Key: uuid.New()}
	sub := webhook.Subscription{ID: portstest.NewID(), PartnerID: from.PartnerID, URL: "https://pms.example",
		Events: webhook.EventNames, Enabled: true, CreatedAt: now}
	rotated := sub
	rotated.ID = portstest.NewID()
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		key := partner.APIKey{ID: portstest.NewID(), PartnerID: from.PartnerID, Name: "k", Prefix: "svc_pk_test_",
			Last4: "ain1", CreatedAt: now}
		require.NoError(t, store.Keys.InsertKey(ctx, key, partner.HashAPIKey(plain["api key"])))
		require.NoError(t, store.Partners.SetConnectSecret(ctx, from.PartnerID, secret.Text(plain["connect secret"])))
		require.NoError(t, store.Subscriptions.Insert(ctx, sub, secret.Text(plain["webhook secret"])))
		require.NoError(t, store.Subscriptions.Insert(ctx, rotated, "svc_whsec_x"))
		require.NoError(t, store.Subscriptions.SetSigningSecret(ctx, rotated.ID, secret.Text(plain["rotated secret"])))
		require.NoError(t, store.Deposits.Insert(ctx, draft(from, now), secret.Text(plain["checkout token"])))
		link := ports.Mail{ID: portstest.NewID(), To: "a@b.example", Body: plain["link in a mail"],
			HTML: plain["link in HTML"], CreatedAt: now, LinkOf: portstest.NewID()}
		require.NoError(t, store.Mails.Enqueue(ctx, link))
		_, err := store.Idempotency.ClaimKey(ctx, k, now)
		require.NoError(t, err)
		return store.Idempotency.StoreResponse(ctx, k,
			ports.StoredResponse{Code: 201, Body: []byte(plain["stored response"]), CreatedAt: now})
	}))

	rows, err := pool.Query(t.Context(),
		`SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public'
			AND c.relkind IN ('r', 'p')`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, tables, "deposits")
	var dump strings.Builder
	for _, table := range tables {
		var text string
		require.NoError(t, pool.QueryRow(t.Context(),
			`SELECT coalesce(string_agg(t::text, E'\n'), '') FROM `+pgx.Identifier{table}.Sanitize()+` t`).Scan(&text))
		dump.WriteString(text)
	}
	require.Contains(t, dump.String(), sub.URL, "the dump holds what was written")
	for what, value := range plain {
		require.NotContains(t, dump.String(), value, what)
		require.NotContains(t, dump.String(), hex.EncodeToString([]byte(value)), what)
	}
}

func TestSecrets_MovedToAnotherRow_DoNotOpen(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from, other := storetest.CreateDepositOrigin(t, store), storetest.CreateDepositOrigin(t, store)
	now := time.Now()
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		return store.Partners.SetConnectSecret(ctx, from.PartnerID, "svc_cs_mine")
	}))
	first, err := create(t.Context(), store, from, now)
	require.NoError(t, err)
	second, err := create(t.Context(), store, from, now)
	require.NoError(t, err)

	for _, swap := range []string{
		`UPDATE partners SET connect_secret = (SELECT connect_secret FROM partners WHERE id = '` + from.PartnerID.String() +
			`')`,
		`UPDATE deposits SET checkout_token = (SELECT checkout_token FROM deposits WHERE id = '` + first.String() + `')`,
	} {
		_, err = pool.Exec(t.Context(), swap)
		require.NoError(t, err)
	}
	got, err := store.Partners.ConnectSecret(t.Context(), from.PartnerID)
	require.NoError(t, err)
	require.Equal(t, "svc_cs_mine", got.Reveal())
	_, err = store.Partners.ConnectSecret(t.Context(), other.PartnerID)
	require.Error(t, err)
	_, err = store.Deposits.CheckoutTokens(t.Context(), []id.ID{first})
	require.NoError(t, err)
	_, err = store.Deposits.CheckoutTokens(t.Context(), []id.ID{second})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "svc_cs_")
}

func TestFileContents_OfEverySize_AreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	c := pooled(t).Contents
	for _, size := range []int{1, 100, 256<<10 - 1, 256 << 10, 256<<10 + 1, 3 << 20} {
		content := bytes.Repeat([]byte{'a', 0, 0xff, byte(size)}, size/4+1)[:size]
		fileID := portstest.NewID()
		require.NoError(t, c.Put(t.Context(), fileID, iotest.HalfReader(bytes.NewReader(content)), int64(size)))
		r, err := c.Open(t.Context(), fileID)
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.True(t, bytes.Equal(content, got), "%d bytes", size)
	}
}

func TestFileContents_Empty_AreReadAsNothing(t *testing.T) {
	t.Parallel()
	c := pooled(t).Contents
	fileID := portstest.NewID()
	require.NoError(t, c.Put(t.Context(), fileID, bytes.NewReader(nil), 0))
	r, err := c.Open(t.Context(), fileID)
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestFileContents_ThatFailMidway_LeaveNothing(t *testing.T) {
	t.Parallel()
	c := pooled(t).Contents
	broken := errors.New("broken")
	for what, content := range map[string]io.Reader{
		"short": bytes.NewReader(make([]byte, 300<<10)), "long": bytes.NewReader(make([]byte, 500<<10)),
		"broken": io.MultiReader(bytes.NewReader(make([]byte, 300<<10)), iotest.ErrReader(broken)),
	} {
		fileID := portstest.NewID()
		require.Error(t, c.Put(t.Context(), fileID, content, 400<<10), what)
		_, err := c.Open(t.Context(), fileID)
		require.ErrorIs(t, err, evidence.ErrNotFound, what)
	}
}

func TestFileContents_OfTwoFiles_StayApart(t *testing.T) {
	t.Parallel()
	c := pooled(t).Contents
	one, two := portstest.NewID(), portstest.NewID()
	require.NoError(t, c.Put(t.Context(), one, bytes.NewReader([]byte("one")), 3))
	require.NoError(t, c.Put(t.Context(), two, bytes.NewReader([]byte("two")), 3))
	require.Error(t, c.Put(t.Context(), one, bytes.NewReader([]byte("new")), 3), "a content never changes")
	require.NoError(t, c.Delete(t.Context(), []id.ID{two, portstest.NewID()}))
	_, err := c.Open(t.Context(), two)
	require.ErrorIs(t, err, evidence.ErrNotFound)
	r, err := c.Open(t.Context(), one)
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "one", string(got))
}

// sent makes n files wait that by sends at the time.
func (w *pooledStore) sent(by depositports.UploadSession, at time.Time, n int) (ids []id.ID, files []evidence.File) {
	w.t.Helper()
	for range n {
		f := evidence.File{ID: idAt(at), DepositID: by.DepositID, Name: "oven.jpg", Type: evidence.JPEG, Size: 7, SentAt: at}
		ids, files = append(ids, f.ID), append(files, f)
	}
	require.NoError(w.t, w.Files.InsertUnconfirmed(w.t.Context(), by, files))
	return ids, files
}

func (w *pooledStore) add(by depositports.UploadSession, ids []id.ID, since, at time.Time) error {
	return w.try(func(ctx context.Context, r *postgres.Store) error {
		if _, err := r.Deposits.LockRow(ctx, by.DepositID); err != nil {
			return err
		}
		_, err := r.Files.AttachUnconfirmed(ctx, by, ids, since, at, actor.Operator(id.ID{1}))
		return err
	})
}

// sender gives the sender of a new deposit.
func (w *pooledStore) sender(session byte) depositports.UploadSession {
	w.t.Helper()
	return depositports.UploadSession{Session: [32]byte{session}, DepositID: w.deposit(w.partner()).ID}
}

func TestFiles_Waiting_AreNotTheDepositsUntilTheyAreAdded(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	by := w.sender(1)
	ids, files := w.sent(by, at0, 2)
	got, err := w.Files.Files(t.Context(), by.DepositID)
	require.NoError(t, err)
	require.Empty(t, got)
	_, err = w.Files.File(t.Context(), by.DepositID, ids[0])
	require.ErrorIs(t, err, evidence.ErrNotFound)
	waiting, err := w.Files.UnconfirmedFiles(t.Context(), by, ids, at0)
	require.NoError(t, err)
	require.ElementsMatch(t, files, waiting)
	require.NoError(t, w.add(by, ids, at0, at0.Add(time.Minute)))
	for i := range files {
		files[i].AddedAt, files[i].AddedBy = at0.Add(time.Minute), actor.Operator(id.ID{1})
	}
	got, err = w.Files.Files(t.Context(), by.DepositID)
	require.NoError(t, err)
	require.ElementsMatch(t, files, got)
	one, err := w.Files.File(t.Context(), by.DepositID, ids[1])
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(files[1], one))
	waiting, err = w.Files.UnconfirmedFiles(t.Context(), by, ids, at0)
	require.NoError(t, err)
	require.Empty(t, waiting)
	_, err = w.Files.File(t.Context(), w.sender(1).DepositID, ids[1])
	require.ErrorIs(t, err, evidence.ErrNotFound, "the file of another deposit")
}

func TestFiles_Add_OfAnotherSessionOrDepositOrTooLate_AddsNone(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	by := w.sender(1)
	ids, _ := w.sent(by, at0, 2)
	other, _ := w.sent(depositports.UploadSession{Session: [32]byte{2}, DepositID: by.DepositID}, at0, 1)
	late := at0.Add(time.Microsecond)
	for what, err := range map[string]error{
		"another session": w.add(depositports.UploadSession{Session: [32]byte{2}, DepositID: by.DepositID}, ids, at0, late),
		"another deposit": w.add(depositports.UploadSession{Session: by.Session, DepositID: w.sender(1).DepositID}, ids, at0,
			late),
		"too late":        w.add(by, ids, late, late),
		"an unknown file": w.add(by, append([]id.ID{portstest.NewID()}, ids...), at0, late),
		"a file of another session among the own": w.add(by, append(other, ids...), at0, late),
	} {
		require.ErrorIs(t, err, evidence.ErrFilesGone, what)
	}
	require.NoError(t, w.add(by, ids, at0, late))
	require.ErrorIs(t, w.add(by, ids, at0, late), evidence.ErrFilesGone, "added before")
	got, err := w.Files.Files(t.Context(), by.DepositID)
	require.NoError(t, err)
	require.Len(t, got, 2)
}

func TestFiles_Add_BeyondTheDepositsMost_AddsNone(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	by := w.sender(1)
	most, _ := w.sent(by, at0, evidence.MaxFilesPerDeposit-1)
	require.NoError(t, w.add(by, most, at0, at0))
	two, _ := w.sent(by, at0, 2)
	require.ErrorIs(t, w.add(by, two, at0, at0), evidence.ErrDepositFileLimit)
	require.NoError(t, w.add(by, two[:1], at0, at0))
	ended := w.race(func(int) error { return w.add(by, two[1:], at0, at0) })
	require.Equal(t, map[string]int{evidence.ErrDepositFileLimit.Error(): racers}, ended)
}

func TestFiles_Add_ManyAtOnce_AddsEachOnce(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	by := w.sender(1)
	ids, _ := w.sent(by, at0, 3)
	require.Equal(t, 1, w.race(func(int) error { return w.add(by, ids, at0, at0) })["<nil>"])
}

func TestFiles_Abandoned_AreThoseThatWaitedTooLong(t *testing.T) {
	t.Parallel()
	w := alone(t)
	by := w.sender(1)
	old, _ := w.sent(by, at0, 3)
	added, _ := w.sent(by, at0, 1)
	require.NoError(t, w.add(by, added, at0, at0))
	w.sent(by, at0.Add(time.Second), 1)
	first, err := w.Files.AbandonedFileIDs(t.Context(), at0.Add(time.Second), 2)
	require.NoError(t, err)
	require.Len(t, first, 2)
	got, err := w.Files.AbandonedFileIDs(t.Context(), at0.Add(time.Second), 10)
	require.NoError(t, err)
	require.ElementsMatch(t, old, got)
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Files.DeleteRecords(ctx, got) })
	got, err = w.Files.AbandonedFileIDs(t.Context(), at0.Add(time.Second), 10)
	require.NoError(t, err)
	require.Empty(t, got)
	kept, err := w.Files.Files(t.Context(), by.DepositID)
	require.NoError(t, err)
	require.Len(t, kept, 1)
}

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
	resealer, changed := postgres.NewSecretReencrypter(store, []byte("of no ciphertext")), 0
	for _, kind := range resealer.SecretColumns() {
		page, err := resealer.ReencryptPage(t.Context(), kind.FirstPage())
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

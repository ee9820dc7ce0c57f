package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	depositports "partnerdeposits/ports/deposits"
)

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
func (w *pooledStore) sent(by depositports.FileSender, at time.Time, n int) (ids []id.ID, files []evidence.File) {
	w.t.Helper()
	for range n {
		f := evidence.File{ID: idAt(at), DepositID: by.DepositID, Name: "oven.jpg", Type: evidence.JPEG, Size: 7, SentAt: at}
		ids, files = append(ids, f.ID), append(files, f)
	}
	require.NoError(w.t, w.Files.Wait(w.t.Context(), by, files))
	return ids, files
}

func (w *pooledStore) add(by depositports.FileSender, ids []id.ID, since, at time.Time) error {
	return w.try(func(ctx context.Context, r *postgres.Store) error {
		if _, err := r.Deposits.ForUpdate(ctx, by.DepositID); err != nil {
			return err
		}
		_, err := r.Files.Add(ctx, by, ids, since, at, actor.Operator(id.ID{1}))
		return err
	})
}

// sender gives the sender of a new deposit.
func (w *pooledStore) sender(session byte) depositports.FileSender {
	w.t.Helper()
	return depositports.FileSender{Session: [32]byte{session}, DepositID: w.deposit(w.partner()).ID}
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
	waiting, err := w.Files.Waiting(t.Context(), by, ids, at0)
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
	waiting, err = w.Files.Waiting(t.Context(), by, ids, at0)
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
	other, _ := w.sent(depositports.FileSender{Session: [32]byte{2}, DepositID: by.DepositID}, at0, 1)
	late := at0.Add(time.Microsecond)
	for what, err := range map[string]error{
		"another session": w.add(depositports.FileSender{Session: [32]byte{2}, DepositID: by.DepositID}, ids, at0, late),
		"another deposit": w.add(depositports.FileSender{Session: by.Session, DepositID: w.sender(1).DepositID}, ids, at0,
			late),
		"too late":        w.add(by, ids, late, late),
		"an unknown file": w.add(by, append([]id.ID{portstest.NewID()}, ids...), at0, late),
		"a file of another session among the own": w.add(by, append(other, ids...), at0, late),
	} {
		require.ErrorIs(t, err, evidence.ErrGone, what)
	}
	require.NoError(t, w.add(by, ids, at0, late))
	require.ErrorIs(t, w.add(by, ids, at0, late), evidence.ErrGone, "added before")
	got, err := w.Files.Files(t.Context(), by.DepositID)
	require.NoError(t, err)
	require.Len(t, got, 2)
}

func TestFiles_Add_BeyondTheDepositsMost_AddsNone(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	by := w.sender(1)
	most, _ := w.sent(by, at0, evidence.MaxOfDeposit-1)
	require.NoError(t, w.add(by, most, at0, at0))
	two, _ := w.sent(by, at0, 2)
	require.ErrorIs(t, w.add(by, two, at0, at0), evidence.ErrFull)
	require.NoError(t, w.add(by, two[:1], at0, at0))
	ended := w.race(func(int) error { return w.add(by, two[1:], at0, at0) })
	require.Equal(t, map[string]int{evidence.ErrFull.Error(): racers}, ended)
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
	first, err := w.Files.Abandoned(t.Context(), at0.Add(time.Second), 2)
	require.NoError(t, err)
	require.Len(t, first, 2)
	got, err := w.Files.Abandoned(t.Context(), at0.Add(time.Second), 10)
	require.NoError(t, err)
	require.ElementsMatch(t, old, got)
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Files.Forget(ctx, got) })
	got, err = w.Files.Abandoned(t.Context(), at0.Add(time.Second), 10)
	require.NoError(t, err)
	require.Empty(t, got)
	kept, err := w.Files.Files(t.Context(), by.DepositID)
	require.NoError(t, err)
	require.Len(t, kept, 1)
}

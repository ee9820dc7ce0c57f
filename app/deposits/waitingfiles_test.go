//go:build !unit

package deposits_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/servicetest"
	depositports "partnerdeposits/ports/deposits"
)

func TestWaitingFiles_AreRemovedWithTheirContents_AndAddedOnesStay(t *testing.T) {
	t.Parallel()
	clock := servicetest.NewClock(time.Now())
	kit := servicetest.New(t, func(s *servicetest.Setup) { s.Clock = clock })
	contents := kit.Postgres.Contents
	by := depositports.UploadSession{Session: [32]byte{1}, DepositID: id.ID{9}}
	var all []id.ID
	wait := func(n int) {
		for range n {
			f := evidence.File{ID: servicetest.NewID(), Name: "oven.jpg", Type: evidence.JPEG, Size: 4, SentAt: clock.Now()}
			require.NoError(t, kit.Postgres.Files.InsertUnconfirmed(t.Context(), by, []evidence.File{f}))
			require.NoError(t, contents.Put(t.Context(), f.ID, strings.NewReader("oven"), 4))
			all = append(all, f.ID)
		}
	}
	wait(103)
	_, err := kit.Pool.Exec(t.Context(), `UPDATE deposit_files SET session = NULL, added_at = sent_at WHERE id = $1`,
		all[0])
	require.NoError(t, err)
	clock.Add(2 * time.Minute)
	wait(1)
	job := deposits.UnconfirmedFileRemover{Files: kit.Postgres.Files, Contents: contents, UnitOfWork: kit.Postgres,
		Clock: clock}.ScheduledJob()
	run := func() (rounds int) {
		for more := true; more; rounds++ {
			more, err = job.Run(t.Context())
			require.NoError(t, err)
		}
		return rounds
	}
	clock.Add(evidence.UnconfirmedFileLifetime)
	require.Equal(t, 1, run())
	require.Equal(t, 104, kit.Count("deposit_files", ""), "a form may be confirmed for an hour, by any process's clock")
	clock.Add(9 * time.Minute)
	require.Equal(t, 2, run(), "in as many rounds as it takes")
	require.Equal(t, 2, kit.Count("deposit_files", ""))
	require.Equal(t, 2, kit.Count("file_contents", ""))
	require.Equal(t, 2, kit.Count("file_chunks", ""))
	require.Equal(t, 1, kit.Count("deposit_files", "added_at IS NOT NULL"))
}

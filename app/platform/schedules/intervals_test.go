package schedules_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

type books struct{}

func (books) RunDaily(context.Context) (run ports.ReconciliationRun, err error) { return run, err }

type customers struct{}

func (customers) Forget(context.Context, id.ID) error { return nil }

// The alert JobNotRun waits 15 minutes for a job, or two hours for the jobs that it names. An interval varies by a fifth, and a job
// may fail once without an alert.
func TestJobs_AlertWaitsForTwoRounds(t *testing.T) {
	rules, err := os.ReadFile("../../../deployments/prometheus/causes.alerts.yml")
	require.NoError(t, err)
	named := regexp.MustCompile(`exported_job=~"([^"]+)"\} > 0\) > 7200`).FindStringSubmatch(string(rules))
	require.NotNil(t, named)
	slow := strings.Split(named[1], "|")
	jobs := slices.Concat( // the other jobs run every few seconds
		schedules.Maintenance{}.Jobs(), schedules.OperatorNotices{}.Jobs(time.Second),
		schedules.PaymentUpkeep{Books: books{}, Eraser: customers{}}.Jobs(time.Second),
	)
	for _, name := range slow {
		require.Contains(t, schedules.Names(jobs), name)
	}
	for _, job := range jobs {
		patience, rounds := 15*time.Minute, 2*job.Every
		if slices.Contains(slow, job.Name) {
			patience = 2 * time.Hour
		}
		if job.Soon { // a failed round is repeated after a minute
			rounds = job.Every + 2*time.Minute
		}
		require.Less(t, rounds*6/5, patience, job.Name)
	}
}

// The label of svc_job_runs_total is the name of the job.
func TestMaintenance_PartitionsAreLookedAfterSoon_AndNamesAreUnique(t *testing.T) {
	t.Parallel()
	jobs := append(schedules.Maintenance{}.Jobs(), schedules.ReplayJob(noReplays{}))
	names := schedules.Names(jobs)
	for i, job := range jobs {
		require.Equal(t, i, slices.Index(names, job.Name), job.Name)
		require.Equal(t, job.Name == "partitions", job.Soon, job.Name)
	}
}

type noReplays struct{}

func (noReplays) AdvanceReplay(context.Context) (bool, error) { return false, nil }

package wire_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

type compared struct{}

func (compared) ReconcileDaily(context.Context) (run paymentports.ReconciliationRun, err error) {
	return run, err
}

type customers struct{}

func (customers) EraseCustomer(context.Context, id.ID) error { return nil }

// The alert JobNotRun waits 15 minutes for a job, or two hours for the jobs that it names. An interval varies by a
// fifth, and a job may fail once without an alert.
func TestJobs_AlertWaitsForTwoRounds(t *testing.T) {
	rules, err := os.ReadFile("../../deployments/prometheus/causes.alerts.yml")
	require.NoError(t, err)
	named := regexp.MustCompile(`exported_job=~"([^"]+)"\} > 0\) > 7200`).FindStringSubmatch(string(rules))
	require.NotNil(t, named)
	slow := strings.Split(named[1], "|")
	jobs := slices.Concat( // the other jobs run every few seconds
		webhooks.RetentionJobs{}.ScheduledJobs(), deposits.OperatorNoticeMailer{}.ScheduledJobs(time.Second),
		(&operators.Service{}).ScheduledJobs(time.Second),
		payments.ProviderUpkeep{Books: compared{}, Eraser: customers{}}.ScheduledJobs(time.Second),
	)
	for _, name := range slow {
		require.Contains(t, schedules.JobNames(jobs), name)
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
	jobs := append(webhooks.RetentionJobs{}.ScheduledJobs(), (&webhooks.Service{}).ReplayJob())
	names := schedules.JobNames(jobs)
	for i, job := range jobs {
		require.Equal(t, i, slices.Index(names, job.Name), job.Name)
		require.Equal(t, job.Name == "partitions", job.Soon, job.Name)
	}
}

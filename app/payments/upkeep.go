package payments

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
)

const (
	// The time between checks whether the daily comparison with the provider is due.
	booksEvery    = time.Hour
	erasuresEvery = 5 * time.Minute
	erasurePause  = 6 * time.Hour // The time between checks whether an erased client owes a debt.
	erasureBatch  = 20
	forgetTimeout = 20 * time.Second // The time limit of a call that erases a customer at the provider.
)

// ProviderUpkeep holds the jobs about the payment provider's records: due queries, daily comparison and erasure of
// customers.
type ProviderUpkeep struct {
	Callbacks DueQueryRunner
	// The daily comparison with the provider; nil for a provider without records of its own.
	Books    BooksReconciler
	Erasures paymentports.ProviderErasureStore
	// The provider's erasure of customers; nil for a provider that stores none.
	Eraser  paymentports.PaymentEraser
	Metrics paymentports.BooksMetrics
	Audit   ports.AuditLog

	UnitOfWork ports.UnitOfWork
	Clock      ports.Clock
	Entropy    ports.Entropy
}

type DueQueryRunner interface {
	// RunDueQueries makes the due queries to the provider and returns how many were answered.
	RunDueQueries(ctx context.Context) (int, error)
}

type BooksReconciler interface {
	// ReconcileDaily compares payments with the provider's if due, and returns the last result.
	ReconcileDaily(ctx context.Context) (paymentports.ReconciliationRun, error)
}

func (u ProviderUpkeep) ScheduledJobs(every time.Duration) []schedules.Job {
	jobs := []schedules.Job{{Name: "payment notices", Every: every, Run: func(ctx context.Context) (bool, error) {
		_, err := u.Callbacks.RunDueQueries(ctx)
		return false, err
	}}}
	if u.Books != nil {
		jobs = append(jobs,
			schedules.Job{Name: "reconciliation", Every: booksEvery, Soon: true, Run: func(ctx context.Context) (bool, error) {
				run, err := u.Books.ReconcileDaily(ctx)
				if err == nil {
					u.Metrics.SetDifferences(run.Differences)
				}
				return false, err
			}})
	}
	if u.Eraser != nil {
		jobs = append(jobs, schedules.Job{Name: "payment erasures", Every: erasuresEvery, Soon: true, Run: u.forget})
	}
	return jobs
}

// forget deletes erased clients who owe nothing at the payment provider; a failed call is repeated.
func (u ProviderUpkeep) forget(ctx context.Context) (more bool, err error) {
	now := u.Clock.Now()
	due, looked, err := u.Erasures.DueErasures(ctx, now, now.Add(erasurePause), erasureBatch)
	if err != nil {
		return false, err
	}
	var failures []error
	for _, client := range due {
		failures = append(failures, u.forgetClient(ctx, client))
	}
	err = errors.Join(failures...)
	return looked == erasureBatch && err == nil, err
}

func (u ProviderUpkeep) forgetClient(ctx context.Context, client paymentports.ErasedClient) error {
	for _, paymentID := range client.FeePayments {
		asking, cancel := context.WithTimeout(ctx, forgetTimeout)
		failpoint.Hit("payment.forget.before")
		err := u.Eraser.EraseCustomer(asking, paymentID)
		cancel()
		if err != nil {
			return err
		}
		failpoint.Hit("payment.forget.answered")
	}
	return u.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		ok, err := u.Erasures.DeleteErasure(ctx, client.ClientID)
		if err != nil || !ok {
			return err
		}
		now, subject := u.Clock.Now(), id.Client.Of(client.ClientID)
		return u.Audit.Append(ctx, audit.NewEntry(u.Entropy, now, actor.Clock, audit.ClientEraseCard, subject, nil))
	})
}

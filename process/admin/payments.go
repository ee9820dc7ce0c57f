package admin

import (
	"errors"
	"time"

	"partnerdeposits/app/payments/books"
	"partnerdeposits/core/id"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type paymentsCommands struct {
	Check     paymentsCheck     `cmd:"" help:"Make real requests to the payment provider that move no money, and say which fail."`
	Reconcile paymentsReconcile `cmd:"" help:"Print each difference of our books and the provider's, and the money that is due to each operator."`
}

type paymentsReconcile struct {
	From time.Time `required:"" help:"Beginning of the time to compare: 2026-11-01T00:00:00Z."`
	To   time.Time `required:"" help:"End of the time, which is not compared any more."`
}

// errDifferences sets the exit code after differences from the provider's payments were printed.
var errDifferences = codedError{"books_differ", errors.New("our books and those of the payment provider differ; see above")}

// Run compares this service's payments with the payment provider's, and prints each difference and the amounts due
// to operators.
func (r paymentsReconcile) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		report, err := a.Books.Reconcile(c.ctx, r.From, r.To)
		if err != nil {
			return err
		}
		differences, due := []fields{}, []fields{}
		for _, d := range report.Differences {
			differences = append(differences, difference(d))
		}
		for _, d := range report.Due {
			due = append(due, fields{
				{"accountId", id.Account.Of(d.AccountID)}, {"companyName", d.CompanyName}, {"collectedCents", cents(d.Collected)},
				{"refundedCents", cents(d.Refunded)}, {"dueCents", cents(d.AmountOwedToOperator())},
			})
		}
		if err := c.answer(fields{{"checked", report.Checked}, {"differences", differences}, {"due", due}}); err != nil ||
			len(differences) == 0 {
			return err
		}
		return errDifferences
	})
}

func difference(d books.RecordDifference) fields {
	return fields{
		{"paymentId", id.Payment.FormatOrNil(d.PaymentID)}, {"depositId", id.Deposit.FormatOrNil(d.DepositID)},
		{"providerRef", textOrNone(d.ProviderRef)},
		{"ours", textOrNone(d.Ours)}, {"theirs", textOrNone(d.Theirs)},
	}
}

package admin

import (
	"context"

	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type collectionCommands struct {
	List   collectionList   `cmd:"" help:"List collections of captured amounts, oldest capture first."`
	Show   collectionShow   `cmd:"" help:"Show a collection with its history and refunds."`
	Retry  collectionRetry  `cmd:"" help:"Charge the card again at once."`
	Cancel collectionCancel `cmd:"" help:"End a collection without payment."`
	Refund collectionRefund `cmd:"" help:"Give a charge that was made in error back to the tenant, or a part of it."`
}

type collectionList struct {
	State string `enum:",scheduled,retrying,awaiting_tenant,paid,failed" default:"" help:"Only this state: scheduled, retrying, awaiting_tenant, paid or failed. Without it, every state but paid."`
}

func (l collectionList) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		found, err := a.Payments.ListCollections(c.ctx, deposit.CollectionState(l.State))
		if err != nil {
			return err
		}
		rows := make([]fields, 0, len(found))
		for _, one := range found {
			rows = append(rows, collectionSummary(one))
		}
		return c.list("collections", rows)
	})
}

// collectionName identifies a collection by its deposit.
type collectionName struct {
	ID string `required:"" id:"" name:"id" help:"Id (dep_…) or reference (D-7K3M-9Q2X) of the deposit."`
}

// find returns a function that looks up a deposit by its id or reference.
func find(a *wire.AdminCommands) func(context.Context, string) (id.ID, error) {
	return func(ctx context.Context, name string) (id.ID, error) {
		found, err := a.Support.FindDeposit(ctx, name)
		if err != nil {
			return id.ID{}, err
		}
		return found.ID, nil
	}
}

// do finds the deposit, runs what on its collection, and prints the collection.
func (n collectionName) do(c *call, what func(*wire.AdminCommands, id.ID) (payments.CollectionView, error)) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		depositID, err := find(a)(c.ctx, n.ID)
		if err != nil {
			return err
		}
		shown, err := what(a, depositID)
		if err != nil {
			return err
		}
		return c.answer(describedCollection(shown))
	})
}

type collectionShow struct {
	collectionName `embed:""`
}

func (s collectionShow) Run(c *call) error {
	return s.do(c, func(a *wire.AdminCommands, depositID id.ID) (payments.CollectionView, error) {
		return a.Payments.ShowCollection(c.ctx, depositID)
	})
}

type collectionRetry struct {
	collectionName `embed:""`
}

// Run charges the card of the debt again, or lets the dispatcher do so if the provider is unreachable.
func (r collectionRetry) Run(c *call) error {
	return r.do(c, func(a *wire.AdminCommands, depositID id.ID) (payments.CollectionView, error) {
		return a.Payments.RetryCollection(c.ctx, depositID)
	})
}

type collectionCancel struct {
	collectionName `embed:""`
}

// Run ends the collection without payment, or lets the dispatcher do so if the provider is unreachable.
func (r collectionCancel) Run(c *call) error {
	return r.do(c, func(a *wire.AdminCommands, depositID id.ID) (payments.CollectionView, error) {
		shown, err := a.Payments.ShowCollection(c.ctx, depositID)
		if err != nil {
			return shown, err
		}
		if err := c.confirm("The tenant of %s does not pay %s EUR any more, by card or by link.", shown.Deposit.Reference,
			shown.Payment.Amount); err != nil {
			return shown, err
		}
		return a.Payments.CancelCollection(c.ctx, depositID)
	})
}

type collectionRefund struct {
	ID     string `required:"" id:"" name:"id" help:"Id (dep_…) or reference of a captured deposit, or id of a payment (pay_…)."`
	Amount string `help:"Amount in euros, such as 12.50; without it, the rest of the payment."`
}

// Run refunds a payment to the tenant, or lets the dispatcher do so if the provider is unreachable.
func (r collectionRefund) Run(c *call) error {
	amount, err := r.amount()
	if err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		paymentID, err := a.Payments.FindPaymentToRefund(c.ctx, r.ID, find(a))
		if err != nil {
			return err
		}
		what := "The rest of the payment"
		if amount > 0 {
			what = amount.String() + " EUR"
		}
		if err := c.confirm("%s of %s goes back to the tenant's card.", what, id.Payment.Of(paymentID)); err != nil {
			return err
		}
		done, err := a.Payments.RefundByStaff(c.ctx, paymentID, amount)
		if err != nil {
			return err
		}
		return c.answer(describedRefund(done))
	})
}

// amount returns the flag --amount in cents; zero if it is absent.
func (r collectionRefund) amount() (money.Cents, error) {
	if r.Amount == "" {
		return 0, nil
	}
	cents, err := typedEuros(r.Amount)
	if err != nil || cents <= 0 {
		return 0,
			fault.ErrInvalidField.WithField("amount", "must be more than 0, in euros with at most two decimals, such as 12.50")
	}
	return cents, nil
}

func collectionSummary(one payments.ListedCollection) fields {
	return fields{
		{"depositId", id.Deposit.Of(one.DepositID)}, {"reference", one.Deposit.Reference},
		{"paymentId", id.Payment.Of(one.PaymentID)},
		{"state", string(one.State)}, {"amountCents", cents(one.Deposit.CapturedAmount)}, {"attempts", one.Attempt},
		{"failure", textOrNone(one.Failure)},
		{"capturedAt", at(one.CapturedAt)}, {"attemptedAt", at(one.AttemptedAt)}, {"nextAttemptAt", at(one.NextAttemptAt)},
		{"endedAt", at(one.EndedAt)},
	}
}

func describedCollection(s payments.CollectionView) fields {
	history, refunds := []fields{}, []fields{}
	for _, step := range s.History {
		history = append(history, fields{
			{"number", step.Number}, {"at", at(step.At)}, {"from", string(step.From)}, {"to", string(step.To)},
			{"trigger", string(step.Trigger)},
			{"actor", step.Actor.String()}, {"detail", pairs(step.Detail)},
		})
	}
	for _, r := range s.Refunds {
		refunds = append(refunds, describedRefund(r))
	}
	return append(collectionSummary(s.ListedCollection), fields{
		{"accountId", id.Account.Of(s.Deposit.AccountID)}, {"providerRef", textOrNone(s.Payment.ProviderRef)},
		{"pageAt", at(s.PageAt)},
		{"cancelRequestedAt", at(s.CancelAt)}, {"history", history}, {"refunds", refunds},
	}...)
}

func describedRefund(r deposit.Refund) fields {
	return fields{
		{"refundId", id.Refund.Of(r.ID)}, {"paymentId", id.Payment.Of(r.PaymentID)}, {"amountCents", cents(r.Amount)},
		{"reason", string(r.Reason)},
		{"status", string(r.Status)}, {"failure", textOrNone(r.Failure)}, {"actor", r.Actor.String()},
		{"createdAt", at(r.CreatedAt)}, {"settledAt", at(r.SettledAt)},
	}
}

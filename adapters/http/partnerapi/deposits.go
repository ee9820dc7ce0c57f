package partnerapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"partnerdeposits/app/checkout"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/ports"
)

// CreateDeposit makes a pending deposit for a linked account.
func (a *api) CreateDeposit(ctx context.Context, r CreateDepositRequestObject) (CreateDepositResponseObject, error) {
	in, err := newDeposit(*r.Body)
	if err != nil {
		return nil, err
	}
	response, err := a.Deposits.Create(ctx, callOf(ctx).caller, in, asked(ctx, func(v deposits.View) (idempotent.Response, error) {
		return written(http.StatusCreated, CreatedDepositResponse{Data: CreatedDeposit{
			ID: id.Deposit.Of(v.ID), Reference: v.Reference, Status: DepositStatus(v.Status), DepositURL: orNil(v.CheckoutURL),
		}})
	}))
	return answer(response), err
}

// newDeposit reads what the document cannot check.
//
// Returns invalid_field or invalid_return_url.
func newDeposit(r CreateDepositRequest) (deposits.NewDeposit, error) {
	amount, err := cents(r.Amount)
	if err != nil {
		return deposits.NewDeposit{}, err
	}
	if r.ReturnURL != nil && *r.ReturnURL == "" { // it is checked whenever it is sent (api.md §2)
		return deposits.NewDeposit{}, deposit.ErrInvalidReturnURL.WithField("returnUrl", "must not be empty")
	}
	start, err := kept("contractStartAt", r.ContractStartAt)
	if err != nil {
		return deposits.NewDeposit{}, err
	}
	end, err := kept("contractEndAt", r.ContractEndAt)
	if err != nil {
		return deposits.NewDeposit{}, err
	}
	in := deposits.NewDeposit{
		AccountID: parse(id.Account, r.AccountID),
		Draft: deposit.Draft{
			Amount: amount, ContractStartAt: start, ContractEndAt: end,
			RentalContract: value(r.RentalContract), ReturnURL: value(r.ReturnURL), URLGeneration: value(r.DepositURLGeneration),
			Metadata: value(r.Metadata), Locale: value(r.Locale),
		},
	}
	if r.ClientID != nil {
		clientID := parse(id.Client, *r.ClientID)
		in.ClientID = &clientID
	}
	return in, nil
}

// kept cuts a time to what the database keeps, so that it does not change between two answers. Go's zero time means
// "none" to us, and nobody rents in the year 1.
func kept(field string, t Timestamp) (time.Time, error) {
	cut := t.Truncate(time.Microsecond)
	if !cut.After(time.Time{}) {
		return cut, fault.ErrInvalidField.WithField(field, "lies too far in the past")
	}
	return cut, nil
}

// cents reads an amount exactly.
func cents(e Euros) (money.Cents, error) {
	amount, err := e.Cents()
	switch {
	case errors.Is(err, money.ErrFractionCents):
		return 0, fault.ErrInvalidField.WithField("amount", "must be a whole number of cents")
	case err != nil:
		return 0, fault.ErrInvalidField.WithField("amount", "must be a number")
	}
	return amount, nil
}

// ListDeposits lists what the caller may read.
func (a *api) ListDeposits(ctx context.Context, r ListDepositsRequestObject) (ListDepositsResponseObject, error) {
	page, err := depositList.page(r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	who := callOf(ctx)
	f := ports.DepositFilter{
		PartnerID: who.caller.Partner.ID, AccountID: filter(id.Account, r.Params.AccountID), ClientID: filter(id.Client, r.Params.ClientID),
		ExternalID: value(r.Params.ExternalID), RentalContract: value(r.Params.RentalContract),
		Created: span(r.Params.CreatedFrom, r.Params.CreatedTo),
	}
	for _, s := range r.Params.Status {
		f.Statuses = append(f.Statuses, deposit.Status(s))
	}
	found, err := a.Deposits.List(ctx, f, page)
	if err != nil {
		return nil, err
	}
	body := DepositList{Data: make([]Deposit, 0, len(found.Items))}
	for _, v := range found.Items {
		body.Data = append(body.Data, depositOf(v))
	}
	var out ListDeposits200JSONResponse
	body.Pagination, out.Headers.Link = a.following(depositList, found.Next, who)
	out.Body = body
	return out, nil
}

// GetDeposit gives a deposit as it is now.
func (a *api) GetDeposit(ctx context.Context, r GetDepositRequestObject) (GetDepositResponseObject, error) {
	found, err := a.Deposits.Get(ctx, callOf(ctx).caller.Partner.ID, parse(id.Deposit, r.DepositID))
	if err != nil {
		return nil, err
	}
	return GetDeposit200JSONResponse{Data: depositOf(found)}, nil
}

// CancelDeposit voids a deposit that is not secured.
func (a *api) CancelDeposit(ctx context.Context, r CancelDepositRequestObject) (CancelDepositResponseObject, error) {
	body := value(r.Body)
	in := deposits.Cancellation{DepositID: parse(id.Deposit, r.DepositID), Reason: value(body.Reason), Comment: value(body.Comment)}
	response, err := a.Deposits.Cancel(ctx, callOf(ctx).caller, in, asked(ctx, writtenDeposit))
	return answer(response), err
}

// CaptureDeposit collects an active deposit.
func (a *api) CaptureDeposit(ctx context.Context, r CaptureDepositRequestObject) (CaptureDepositResponseObject, error) {
	body := value(r.Body)
	in := deposits.Claim{DepositID: parse(id.Deposit, r.DepositID), Reason: value(body.Reason), Description: value(body.Description)}
	if body.Amount != nil {
		amount, err := cents(*body.Amount)
		if err != nil {
			return nil, err
		}
		in.Amount = &amount
	}
	response, err := a.Deposits.Capture(ctx, callOf(ctx).caller, in, asked(ctx, writtenDeposit))
	return answer(response), err
}

// SimulateDeposit makes happen what a tenant would do.
func (a *api) SimulateDeposit(ctx context.Context, r SimulateDepositRequestObject) (SimulateDepositResponseObject, error) {
	partnerID, depositID := callOf(ctx).caller.Partner.ID, parse(id.Deposit, r.DepositID)
	if _, err := a.Simulate.Simulate(ctx, partnerID, depositID, checkout.Simulation(r.Body.Outcome)); err != nil {
		return nil, err
	}
	found, err := a.Deposits.Get(ctx, partnerID, depositID)
	if err != nil {
		return nil, err
	}
	return SimulateDeposit200JSONResponse{Data: depositOf(found)}, nil
}

func writtenDeposit(v deposits.View) (idempotent.Response, error) {
	return written(http.StatusOK, DepositResponse{Data: depositOf(v)})
}

func depositOf(v deposits.View) Deposit {
	out := Deposit{
		ID: id.Deposit.Of(v.ID), Reference: v.Reference, Status: DepositStatus(v.Status), StatusReason: orNil(StatusReason(v.StatusReason)),
		AccountID: id.Account.Of(v.AccountID), ExternalID: v.ExternalID,
		Amount: EurosOf(v.Amount), AmountCents: int64(v.Amount), Currency: EUR, CapturedAmountCents: int64(v.CapturedAmount),
		ContractStartAt: TimestampOf(v.ContractStartAt), ContractEndAt: TimestampOf(v.ContractEndAt), RentalContract: v.RentalContract,
		ClientID: id.Client.OfOrNil(v.ClientID), DepositURL: orNil(v.CheckoutURL), ReturnURL: orNil(v.ReturnURL),
		CheckoutExpiresAt: TimestampOf(v.CheckoutExpiresAt), ActivatedAt: TimestampOrNil(v.ActivatedAt), ExpiresAt: TimestampOrNil(v.ExpiresAt),
		CoversContract: v.CoversContract, CancelledAt: TimestampOrNil(v.CancelledAt), ClosedAt: TimestampOrNil(v.ClosedAt), CapturedAt: TimestampOrNil(v.CapturedAt),
		Metadata: Metadata(v.Metadata), Version: v.Version, CreatedAt: TimestampOf(v.CreatedAt), UpdatedAt: TimestampOf(v.UpdatedAt),
	}
	if out.Metadata == nil {
		out.Metadata = Metadata{}
	}
	if v.Client != nil {
		out.Client = &DepositClient{ID: id.Client.Of(v.Client.ID), Email: v.Client.Email, FirstName: v.Client.FirstName, LastName: v.Client.LastName}
	}
	if c := v.PartnerContext(); c != nil {
		out.PartnerContext = &PartnerContext{PartnerID: c.PartnerID, PartnerName: c.PartnerName, ExternalID: c.ExternalID}
	}
	return out
}

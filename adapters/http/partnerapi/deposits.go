package partnerapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"partnerdeposits/app/deposits"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

func (a *api) CreateDeposit(ctx context.Context, r CreateDepositRequestObject) (CreateDepositResponseObject, error) {
	in, err := newDeposit(*r.Body)
	if err != nil {
		return nil, err
	}
	response, err := a.Deposits.Create(ctx, requestOf(ctx).caller, in,
		keyedCall(ctx, func(v deposits.PartnerView) (idempotent.Response, error) {
			return encodeResponse(http.StatusCreated, CreatedDepositResponse{Data: CreatedDeposit{
				ID: id.Deposit.Of(v.ID), Reference: v.Reference, Status: DepositStatus(v.Status), DepositURL: orNil(v.CheckoutURL),
			}})
		}))
	return encodedResponse(response), err
}

// newDeposit converts a validated request for a deposit, and checks rules that openapi.yaml cannot express.
//
// Returns invalid_field or invalid_return_url.
func newDeposit(r CreateDepositRequest) (deposits.NewDeposit, error) {
	amount, err := cents(r.Amount)
	if err != nil {
		return deposits.NewDeposit{}, err
	}
	// An empty return URL is refused, not ignored (api.md §2).
	if r.ReturnURL != nil && *r.ReturnURL == "" {
		return deposits.NewDeposit{}, deposit.ErrInvalidReturnURL.WithField("returnUrl", "must not be empty")
	}
	start, err := storedTime("contractStartAt", r.ContractStartAt)
	if err != nil {
		return deposits.NewDeposit{}, err
	}
	end, err := storedTime("contractEndAt", r.ContractEndAt)
	if err != nil {
		return deposits.NewDeposit{}, err
	}
	in := deposits.NewDeposit{
		AccountID: parseID(id.Account, r.AccountID),
		Draft: deposit.Draft{
			Amount: amount, ContractStartAt: start, ContractEndAt: end,
			RentalContract: value(r.RentalContract), ReturnURL: value(r.ReturnURL), URLGeneration: value(r.DepositURLGeneration),
			Metadata: value(r.Metadata), Locale: value(r.Locale),
		},
	}
	if r.ClientID != nil {
		clientID := parseID(id.Client, *r.ClientID)
		in.ClientID = &clientID
	}
	return in, nil
}

// storedTime truncates a time to the database's microseconds, so that every response shows the same time. The zero
// time means "no time", so the year 1 is refused.
//
// Returns invalid_field.
func storedTime(field string, t Timestamp) (time.Time, error) {
	cut := t.Truncate(time.Microsecond)
	if !cut.After(time.Time{}) {
		return cut, fault.ErrInvalidField.WithField(field, "lies too far in the past")
	}
	return cut, nil
}

// cents converts euros to whole cents and refuses fractions instead of rounding. Returns invalid_field.
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

func (a *api) ListDeposits(ctx context.Context, r ListDepositsRequestObject) (ListDepositsResponseObject, error) {
	f := depositports.DepositFilter{
		PartnerID: requestOf(ctx).caller.Partner.ID, AccountID: optionalID(id.Account, r.Params.AccountID),
		ClientID:   optionalID(id.Client, r.Params.ClientID),
		ExternalID: value(r.Params.ExternalID), RentalContract: value(r.Params.RentalContract),
		Created: timeSpan(r.Params.CreatedFrom, r.Params.CreatedTo),
	}
	for _, s := range r.Params.Status {
		f.Statuses = append(f.Statuses, deposit.Status(s))
	}
	return answerList(ctx, a, depositList, r.Params.Limit, r.Params.Cursor,
		func(page ports.Page) (ports.ListPage[deposits.PartnerView], error) {
			return a.Deposits.List(ctx, f, page)
		},
		depositOf, func(v deposits.PartnerView) ports.Cursor { return ports.Cursor{At: v.CreatedAt, ID: v.ID} })
}

func (a *api) GetDeposit(ctx context.Context, r GetDepositRequestObject) (GetDepositResponseObject, error) {
	found, err := a.Deposits.Get(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Deposit, r.DepositID))
	if err != nil {
		return nil, err
	}
	return GetDeposit200JSONResponse{Data: depositOf(found)}, nil
}

func (a *api) CancelDeposit(ctx context.Context, r CancelDepositRequestObject) (CancelDepositResponseObject, error) {
	body := value(r.Body)
	in := deposits.Cancellation{DepositID: parseID(id.Deposit, r.DepositID), Reason: value(body.Reason),
		Comment: value(body.Comment)}
	response, err := a.Deposits.Cancel(ctx, requestOf(ctx).caller, in, keyedCall(ctx, encodeDeposit))
	return encodedResponse(response), err
}

func (a *api) ReleaseDeposit(ctx context.Context, r ReleaseDepositRequestObject) (ReleaseDepositResponseObject, error) {
	in := deposits.ReleaseRequest{DepositID: parseID(id.Deposit, r.DepositID), Comment: value(value(r.Body).Comment)}
	response, err := a.Deposits.Release(ctx, requestOf(ctx).caller, in, keyedCall(ctx, encodeDeposit))
	return encodedResponse(response), err
}

// CaptureDeposit captures an active deposit; the card is charged later (docs/glossary.md, "capture").
func (a *api) CaptureDeposit(ctx context.Context, r CaptureDepositRequestObject) (CaptureDepositResponseObject, error) {
	body := value(r.Body)
	in := deposits.CaptureRequest{DepositID: parseID(id.Deposit, r.DepositID), Reason: value(body.Reason),
		Description: value(body.Description)}
	if body.Amount != nil {
		amount, err := cents(*body.Amount)
		if err != nil {
			return nil, err
		}
		in.Amount = &amount
	}
	response, err := a.Deposits.Capture(ctx, requestOf(ctx).caller, in, keyedCall(ctx, encodeDeposit))
	return encodedResponse(response), err
}

// SimulateDeposit acts on a deposit as a tenant would at checkout; outside production only.
func (a *api) SimulateDeposit(ctx context.Context,
	r SimulateDepositRequestObject) (SimulateDepositResponseObject, error) {
	partnerID, depositID := requestOf(ctx).caller.Partner.ID, parseID(id.Deposit, r.DepositID)
	if _, err := a.Simulate.Simulate(ctx, partnerID, depositID, payments.SimulatedEvent(r.Body.Outcome)); err != nil {
		return nil, err
	}
	found, err := a.Deposits.Get(ctx, partnerID, depositID)
	if err != nil {
		return nil, err
	}
	return SimulateDeposit200JSONResponse{Data: depositOf(found)}, nil
}

func encodeDeposit(v deposits.PartnerView) (idempotent.Response, error) {
	return encodeResponse(http.StatusOK, DepositResponse{Data: depositOf(v)})
}

func depositOf(v deposits.PartnerView) Deposit {
	out := Deposit{
		ID: id.Deposit.Of(v.ID), Reference: v.Reference, Status: DepositStatus(v.Status),
		StatusReason: orNil(StatusReason(v.StatusReason)),
		AccountID:    id.Account.Of(v.AccountID), ExternalID: v.ExternalID,
		Amount: EurosOf(v.Amount), AmountCents: int64(v.Amount), Currency: EUR, CapturedAmountCents: int64(v.CapturedAmount),
		ContractStartAt: TimestampOf(v.ContractStartAt), ContractEndAt: TimestampOf(v.ContractEndAt),
		RentalContract: v.RentalContract,
		ClientID:       id.Client.FormatOrNil(v.ClientID), DepositURL: orNil(v.CheckoutURL), ReturnURL: orNil(v.ReturnURL),
		CheckoutExpiresAt: TimestampOf(v.CheckoutExpiresAt), ActivatedAt: TimestampOrNil(v.ActivatedAt),
		ExpiresAt:      TimestampOrNil(v.ExpiresAt),
		CoversContract: v.CoversContract, CancelledAt: TimestampOrNil(v.CancelledAt), ClosedAt: TimestampOrNil(v.ClosedAt),
		CapturedAt: TimestampOrNil(v.CapturedAt),
		Metadata:   Metadata(v.Metadata), Version: v.Version, CreatedAt: TimestampOf(v.CreatedAt),
		UpdatedAt: TimestampOf(v.UpdatedAt),
	}
	if out.Metadata == nil {
		out.Metadata = Metadata{}
	}
	if v.Client != nil {
		out.Client = &DepositClient{ID: id.Client.Of(v.Client.ID), Email: v.Client.Email, FirstName: v.Client.FirstName,
			LastName: v.Client.LastName}
	}
	if d := v.Debt; d != nil {
		out.Collection = collectionOf(*d)
	}
	if c := v.PartnerContext(); c != nil {
		out.PartnerContext = &PartnerContext{PartnerID: c.PartnerID, PartnerName: c.PartnerName, ExternalID: c.ExternalID}
	}
	return out
}

func collectionOf(d deposit.Debt) *Collection {
	out := &Collection{Status: CollectionStatus(d.State), AttemptedAt: TimestampOrNil(d.AttemptedAt),
		NextAttemptAt: TimestampOrNil(d.NextAttemptAt), Failure: orNil(d.Failure)}
	if d.State == deposit.CollectionPaid {
		out.PaidAt = TimestampOrNil(d.EndedAt)
	}
	return out
}

// Package deposits holds the use cases of the partner API about deposits: create, read, cancel, capture. What the
// tenant does is in app/checkout; both record every step through app/internal/lifecycle.
package deposits

import (
	"context"
	"strings"
	"time"

	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Deps is what the use cases stand on.
type Deps struct {
	Idempotent *idempotent.Executor
	Deposits   ports.DepositReader
	Settler    Settler
	Metrics    ports.DepositMetrics
	Clock      ports.Clock
	Entropy    ports.Entropy
	Timers     deposit.Timers
	// DashboardURL is the base of checkout URLs: DASHBOARD_BASE_URL.
	DashboardURL string
}

// Settler ends a fee payment that is under way, for good.
type Settler interface {
	// SettleFee asks the provider to close the payment page of the deposit, outside any transaction, and records what
	// became of the payment. Afterwards none is processing; a tenant who was quicker has made the deposit active.
	SettleFee(ctx context.Context, depositID id.ID) error
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service {
	deps.DashboardURL = strings.TrimRight(deps.DashboardURL, "/")
	return &Service{deps: deps}
}

// View is a deposit as its partner may see it.
type View struct {
	*deposit.Deposit
	CheckoutURL    string // "" unless the deposit was created with depositUrlGeneration
	CoversContract bool
}

func (s *Service) view(d *deposit.Deposit, now time.Time) View {
	v := View{Deposit: d, CoversContract: d.CoversContract(s.deps.Timers, now)}
	if d.URLGeneration && d.CheckoutToken != "" {
		v.CheckoutURL = s.deps.DashboardURL + "/checkout/" + d.CheckoutToken.Reveal()
	}
	return v
}

// readable tells whether a partner may read d: its own deposits, and those made on the dashboard while it was linked.
func readable(d *deposit.Deposit, partnerID id.ID) error {
	if d.PartnerID != partnerID {
		return deposit.ErrAccessDenied
	}
	return nil
}

// changeable refuses a deposit that does not exist (nil), or that the partner did not create (api.md §2): a partner acts
// on its own deposits only.
//
// Returns deposit_not_found or deposit_access_denied.
func changeable(d *deposit.Deposit, partnerID id.ID) error {
	if d == nil {
		return deposit.ErrNotFound
	}
	if d.PartnerID != partnerID || !d.ByPartnerAPI {
		return deposit.ErrAccessDenied
	}
	return nil
}

// partnerAct is the entry of a partner's act in a deposit's history: the partner, the API key, and the details that are set.
func partnerAct(by partner.Caller, detail map[string]string) lifecycle.By {
	set := map[string]string{"keyId": id.APIKey.Of(by.Key.ID)}
	for k, v := range detail {
		if v != "" {
			set[k] = v
		}
	}
	return lifecycle.By{Actor: "partner:" + id.Partner.Of(by.Partner.ID), Detail: set}
}

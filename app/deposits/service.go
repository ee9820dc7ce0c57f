// Package deposits holds the use cases of the partner API about deposits: create, read, cancel, capture. What the
// tenant does is in app/checkout; both record every step through app/internal/lifecycle.
package deposits

import (
	"context"
	"strings"
	"time"

	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Deps is what the use cases stand on.
type Deps struct {
	Keys     *idempotent.Keys
	Deposits ports.DepositReader
	Settler  Settler
	Metrics  ports.DepositMetrics
	Clock    ports.Clock
	Entropy  ports.Entropy
	Timers   deposit.Timers
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
type Service struct{ d Deps }

// New makes the service.
func New(d Deps) *Service {
	d.DashboardURL = strings.TrimRight(d.DashboardURL, "/")
	return &Service{d: d}
}

// View is a deposit as its partner may see it.
type View struct {
	*deposit.Deposit
	CheckoutURL    string // "" unless the deposit was created with depositUrlGeneration
	CoversContract bool
}

func (s *Service) view(d *deposit.Deposit, now time.Time) View {
	v := View{Deposit: d, CoversContract: d.CoversContract(s.d.Timers, now)}
	if d.URLGeneration && d.CheckoutToken != "" {
		v.CheckoutURL = s.d.DashboardURL + "/checkout/" + d.CheckoutToken.Reveal()
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

// changeable tells whether a partner may act on d: only those that it created (api.md §2).
func changeable(d *deposit.Deposit, partnerID id.ID) error {
	if d.PartnerID != partnerID || !d.ByPartnerAPI {
		return deposit.ErrAccessDenied
	}
	return nil
}

// activeLink gives the partner's link to an account, held until the transaction ends.
//
// Returns account_not_linked or account_revoked.
func activeLink(ctx context.Context, repos ports.Repositories, partnerID, accountID id.ID) (ports.LinkedAccount, error) {
	link, err := repos.Links.OfPartner(ctx, partnerID, accountID)
	if err != nil {
		return link, err
	}
	if link.Status() == connect.LinkRevoked {
		return link, connect.ErrAccountRevoked
	}
	return link, nil
}

// saying tells for a deposit's history who acted, with which key, and what they had to say.
func saying(by partner.Caller, detail map[string]string) lifecycle.By {
	said := map[string]string{"keyId": id.APIKey.Of(by.Key.ID)}
	for k, v := range detail {
		if v != "" {
			said[k] = v
		}
	}
	return lifecycle.By{Actor: "partner:" + id.Partner.Of(by.Partner.ID), Detail: said}
}

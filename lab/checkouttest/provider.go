package checkouttest

import (
	"context"
	"errors"
	"sync"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// ErrUnreachable is the error of a payment provider that cannot be reached.
var ErrUnreachable = fault.ErrUnavailable.WithCause(errors.New("connection refused"))

// Provider is a payment provider that passes calls on to another provider, or lets them fail as a test chooses.
type Provider struct {
	paymentports.PaymentProvider

	mu     sync.Mutex
	wish   wish
	opened map[id.ID]bool
}

// wish holds how calls of the test's payment provider differ from those of the provider behind it. The zero value
// passes every call on unchanged.
type wish struct {
	away, lose bool
	collect    func(paymentports.CollectRequest) (paymentports.ProviderPayment, error)
	open       func(paymentports.HostedPageRequest) (paymentports.HostedPage, error)
	answer     func() paymentports.ProviderPayment
	late       func()
}

// SetUnreachable switches failure on (true) or off (false): every call then fails before it reaches the payment
// provider.
func (p *Provider) SetUnreachable(away bool) { p.set(func(w *wish) { w.away = away }) }

// SetAnswersLost switches the loss of answers on (true) or off (false): every call then reaches the payment provider
// and fails afterwards.
func (p *Provider) SetAnswersLost(lose bool) { p.set(func(w *wish) { w.lose = lose }) }

// OnChargeStoredCard makes the function fn handle calls of ChargeStoredCard instead of the payment provider; nil
// restores the provider.
func (p *Provider) OnChargeStoredCard(fn func(paymentports.CollectRequest) (paymentports.ProviderPayment, error)) {
	p.set(func(w *wish) { w.collect = fn })
}

// OnOpenPage makes the function fn handle calls of OpenPage instead of the payment provider; nil restores the
// provider.
func (p *Provider) OnOpenPage(fn func(paymentports.HostedPageRequest) (paymentports.HostedPage, error)) {
	p.set(func(w *wish) { w.open = fn })
}

// OnLookupOrClose makes the function fn answer calls of LookupPayment and ClosePayment instead of the payment
// provider; nil restores the provider.
func (p *Provider) OnLookupOrClose(fn func() paymentports.ProviderPayment) {
	p.set(func(w *wish) { w.answer = fn })
}

// OnNextClose runs the function fn a single time, during the next call of ClosePayment: after the payment
// provider closed its page and before ClosePayment returns.
func (p *Provider) OnNextClose(fn func()) { p.set(func(w *wish) { w.late = fn }) }

// set changes, under a lock, how calls of the test's payment provider fail, and returns the settings from before.
func (p *Provider) set(change func(*wish)) (before wish) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.wish
	change(&p.wish)
	return before
}

func (p *Provider) wished() wish { return p.set(func(*wish) {}) }

// OpenedPageCount returns the number of payments whose page was opened at the payment provider.
func (p *Provider) OpenedPageCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.opened)
}

// through calls the payment provider. After SetUnreachable it fails before the call, and after SetAnswersLost it
// fails after the call.
func through[T any](w wish, call func() (T, error)) (T, error) {
	var none T
	if w.away {
		return none, ErrUnreachable
	}
	got, err := call()
	if w.lose {
		return none, ErrUnreachable
	}
	return got, err
}

// OpenPage opens a page of the payment provider, or fails as the test chose, and records the payment's id.
func (p *Provider) OpenPage(ctx context.Context, r paymentports.HostedPageRequest) (paymentports.HostedPage, error) {
	w := p.set(func(*wish) {
		if p.opened == nil {
			p.opened = map[id.ID]bool{}
		}
		p.opened[r.PaymentID] = true
	})
	if w.open != nil {
		return w.open(r)
	}
	return through(w, func() (paymentports.HostedPage, error) { return p.PaymentProvider.OpenPage(ctx, r) })
}

// LookupPayment returns the state of a payment at the payment provider, or fails or answers as the test chose.
func (p *Provider) LookupPayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	return p.ask(func() (paymentports.ProviderPayment, error) { return p.PaymentProvider.LookupPayment(ctx, paymentID) })
}

// ClosePayment closes a payment's page at the payment provider, then runs the function of OnNextClose.
func (p *Provider) ClosePayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	got, err := p.ask(func() (paymentports.ProviderPayment, error) {
		return p.PaymentProvider.ClosePayment(ctx,
			paymentID)
	})
	if late := p.set(func(w *wish) { w.late = nil }).late; late != nil {
		late()
	}
	return got, err
}

func (p *Provider) ask(call func() (paymentports.ProviderPayment, error)) (paymentports.ProviderPayment, error) {
	w := p.wished()
	if w.answer != nil {
		return w.answer(), nil
	}
	return through(w, call)
}

// ChargeStoredCard charges a saved card through the payment provider, or fails or answers as the test chose.
func (p *Provider) ChargeStoredCard(ctx context.Context, r paymentports.CollectRequest) (paymentports.ProviderPayment,
	error) {
	w := p.wished()
	if w.collect != nil {
		return w.collect(r)
	}
	return through(w, func() (paymentports.ProviderPayment, error) { return p.PaymentProvider.ChargeStoredCard(ctx, r) })
}

// Refund refunds a payment through the payment provider, or fails as the test chose.
func (p *Provider) Refund(ctx context.Context, r paymentports.RefundRequest) (paymentports.ProviderRefund, error) {
	return through(p.wished(), func() (paymentports.ProviderRefund, error) { return p.PaymentProvider.Refund(ctx, r) })
}

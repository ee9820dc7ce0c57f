package checkouttest

import (
	"context"
	"errors"
	"sync"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

var ErrUnreachable = fault.ErrUnavailable.WithCause(errors.New("connection refused"))

// Provider passes calls to another payment provider, or lets them fail as a test chooses.
type Provider struct {
	paymentports.PaymentProvider

	mu     sync.Mutex
	wish   wish
	opened map[id.ID]bool
}

// wish holds how a test changes calls of the payment provider. The zero value changes nothing.
type wish struct {
	away, lose bool
	collect    func(paymentports.CollectRequest) (paymentports.ProviderPayment, error)
	open       func(paymentports.HostedPageRequest) (paymentports.HostedPage, error)
	answer     func() paymentports.ProviderPayment
	late       func()
}

// SetUnreachable switches whether calls fail before they reach the payment provider.
func (p *Provider) SetUnreachable(away bool) { p.set(func(w *wish) { w.away = away }) }

// SetAnswersLost switches whether calls reach the payment provider and fail afterwards.
func (p *Provider) SetAnswersLost(lose bool) { p.set(func(w *wish) { w.lose = lose }) }

// OnChargeStoredCard makes fn handle ChargeStoredCard; nil restores the payment provider.
func (p *Provider) OnChargeStoredCard(fn func(paymentports.CollectRequest) (paymentports.ProviderPayment, error)) {
	p.set(func(w *wish) { w.collect = fn })
}

// OnOpenPage makes fn handle OpenPage; nil restores the payment provider.
func (p *Provider) OnOpenPage(fn func(paymentports.HostedPageRequest) (paymentports.HostedPage, error)) {
	p.set(func(w *wish) { w.open = fn })
}

// OnLookupOrClose makes fn answer LookupPayment and ClosePayment; nil restores the payment provider.
func (p *Provider) OnLookupOrClose(fn func() paymentports.ProviderPayment) {
	p.set(func(w *wish) { w.answer = fn })
}

// OnNextClose runs fn once, in the next ClosePayment, after the payment provider closed its page.
func (p *Provider) OnNextClose(fn func()) { p.set(func(w *wish) { w.late = fn }) }

// set changes under a lock how the test's payment provider fails, and returns the settings before.
func (p *Provider) set(change func(*wish)) (before wish) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.wish
	change(&p.wish)
	return before
}

func (p *Provider) wished() wish { return p.set(func(*wish) {}) }

// OpenedPageCount counts the payments whose page was opened.
func (p *Provider) OpenedPageCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.opened)
}

// through calls the payment provider, or fails before or after the call as a test chose.
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

func (p *Provider) LookupPayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	return p.ask(func() (paymentports.ProviderPayment, error) { return p.PaymentProvider.LookupPayment(ctx, paymentID) })
}

func (p *Provider) ClosePayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	got, err := p.ask(func() (paymentports.ProviderPayment, error) {
		return p.PaymentProvider.ClosePayment(ctx, paymentID)
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

func (p *Provider) ChargeStoredCard(ctx context.Context, r paymentports.CollectRequest) (paymentports.ProviderPayment,
	error) {
	w := p.wished()
	if w.collect != nil {
		return w.collect(r)
	}
	return through(w, func() (paymentports.ProviderPayment, error) { return p.PaymentProvider.ChargeStoredCard(ctx, r) })
}

func (p *Provider) Refund(ctx context.Context, r paymentports.RefundRequest) (paymentports.ProviderRefund, error) {
	return through(p.wished(), func() (paymentports.ProviderRefund, error) { return p.PaymentProvider.Refund(ctx, r) })
}

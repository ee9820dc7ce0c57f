package checkouttest

import (
	"context"
	"errors"
	"sync"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// ErrAway is the error of a provider that cannot be reached.
var ErrAway = fault.ErrUnavailable.Because(errors.New("connection refused"))

// Provider passes calls to another provider, or fails them as a test wants.
type Provider struct {
	paymentports.PaymentProvider

	mu     sync.Mutex
	wish   wish
	opened map[id.ID]bool
}

// wish says how calls differ from those of the provider. The zero value changes nothing.
type wish struct {
	away, lose bool
	collect    func(paymentports.CollectRequest) (paymentports.ProviderPayment, error)
	open       func(paymentports.HostedPayment) (paymentports.HostedPage, error)
	answer     func() paymentports.ProviderPayment
	late       func()
}

// Away makes every call fail before the call reaches the provider.
func (p *Provider) Away(away bool) { p.set(func(w *wish) { w.away = away }) }

// LoseAnswers makes every call fail after the call reached the provider.
func (p *Provider) LoseAnswers(lose bool) { p.set(func(w *wish) { w.lose = lose }) }

// OnCollect lets fn handle Collect instead of the provider; nil restores the provider.
func (p *Provider) OnCollect(fn func(paymentports.CollectRequest) (paymentports.ProviderPayment, error)) {
	p.set(func(w *wish) { w.collect = fn })
}

// OnOpen lets fn handle Open instead of the provider; nil restores the provider.
func (p *Provider) OnOpen(fn func(paymentports.HostedPayment) (paymentports.HostedPage, error)) {
	p.set(func(w *wish) { w.open = fn })
}

// OnAsk lets fn handle Lookup and Close instead of the provider; nil restores the provider.
func (p *Provider) OnAsk(fn func() paymentports.ProviderPayment) {
	p.set(func(w *wish) { w.answer = fn })
}

// OnceClosed runs fn a single time, after the provider closed a page and before Close returns.
func (p *Provider) OnceClosed(fn func()) { p.set(func(w *wish) { w.late = fn }) }

// set changes the wish, and gives the wish from before.
func (p *Provider) set(change func(*wish)) (before wish) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.wish
	change(&p.wish)
	return before
}

func (p *Provider) wished() wish { return p.set(func(*wish) {}) }

// Opened gives the number of payments for which Open was called.
func (p *Provider) Opened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.opened)
}

// through calls the provider, and fails before or after the call while Away or LoseAnswers is on.
func through[T any](w wish, call func() (T, error)) (T, error) {
	var none T
	if w.away {
		return none, ErrAway
	}
	got, err := call()
	if w.lose {
		return none, ErrAway
	}
	return got, err
}

// Open implements paymentports.PaymentProvider.
func (p *Provider) Open(ctx context.Context, r paymentports.HostedPayment) (paymentports.HostedPage, error) {
	w := p.set(func(*wish) {
		if p.opened == nil {
			p.opened = map[id.ID]bool{}
		}
		p.opened[r.PaymentID] = true
	})
	if w.open != nil {
		return w.open(r)
	}
	return through(w, func() (paymentports.HostedPage, error) { return p.PaymentProvider.Open(ctx, r) })
}

// Lookup implements paymentports.PaymentProvider.
func (p *Provider) Lookup(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	return p.ask(func() (paymentports.ProviderPayment, error) { return p.PaymentProvider.Lookup(ctx, paymentID) })
}

// Close implements paymentports.PaymentProvider.
func (p *Provider) Close(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	got, err := p.ask(func() (paymentports.ProviderPayment, error) { return p.PaymentProvider.Close(ctx, paymentID) })
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

// Collect implements paymentports.PaymentProvider.
func (p *Provider) Collect(ctx context.Context, r paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
	w := p.wished()
	if w.collect != nil {
		return w.collect(r)
	}
	return through(w, func() (paymentports.ProviderPayment, error) { return p.PaymentProvider.Collect(ctx, r) })
}

// Refund implements paymentports.PaymentProvider.
func (p *Provider) Refund(ctx context.Context, r paymentports.RefundRequest) (paymentports.ProviderRefund, error) {
	return through(p.wished(), func() (paymentports.ProviderRefund, error) { return p.PaymentProvider.Refund(ctx, r) })
}

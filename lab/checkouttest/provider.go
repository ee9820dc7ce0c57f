package checkouttest

import (
	"context"
	"errors"
	"sync"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// ErrAway is the error of a provider that cannot be reached.
var ErrAway = fault.ErrUnavailable.Because(errors.New("connection refused"))

// Provider passes calls to another provider, or fails them as a test wants.
type Provider struct {
	ports.PaymentProvider

	mu      sync.Mutex
	away    bool
	lose    bool
	collect func(ports.CollectRequest) (ports.ProviderPayment, error)
	open    func(ports.HostedPayment) (ports.HostedPage, error)
	answer  func() ports.ProviderPayment
	late    func()
	opened  map[id.ID]int
}

// Away makes every call fail before the call reaches the provider.
func (p *Provider) Away(away bool) { p.set(func() { p.away = away }) }

// LoseAnswers makes every call fail after the call reached the provider.
func (p *Provider) LoseAnswers(lose bool) { p.set(func() { p.lose = lose }) }

// OnCollect lets fn handle Collect instead of the provider; nil restores the provider.
func (p *Provider) OnCollect(fn func(ports.CollectRequest) (ports.ProviderPayment, error)) {
	p.set(func() { p.collect = fn })
}

// OnOpen lets fn handle Open instead of the provider; nil restores the provider.
func (p *Provider) OnOpen(fn func(ports.HostedPayment) (ports.HostedPage, error)) {
	p.set(func() { p.open = fn })
}

// OnAsk lets fn handle Lookup and Close instead of the provider; nil restores the provider.
func (p *Provider) OnAsk(fn func() ports.ProviderPayment) { p.set(func() { p.answer = fn }) }

// OnceClosed runs fn a single time, after the provider closed a page and before Close returns.
func (p *Provider) OnceClosed(fn func()) { p.set(func() { p.late = fn }) }

func (p *Provider) set(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn()
}

// Opened gives the number of payments for which Open was called.
func (p *Provider) Opened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.opened)
}

func (p *Provider) state() (away, lose bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.away, p.lose
}

// through calls the provider, and fails before or after the call while Away or LoseAnswers is on.
func through[T any](p *Provider, call func() (T, error)) (T, error) {
	var none T
	away, lose := p.state()
	if away {
		return none, ErrAway
	}
	got, err := call()
	if lose {
		return none, ErrAway
	}
	return got, err
}

// Open implements ports.PaymentProvider.
func (p *Provider) Open(ctx context.Context, r ports.HostedPayment) (ports.HostedPage, error) {
	p.set(func() {
		if p.opened == nil {
			p.opened = map[id.ID]int{}
		}
		p.opened[r.PaymentID]++
	})
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	if open != nil {
		return open(r)
	}
	return through(p, func() (ports.HostedPage, error) { return p.PaymentProvider.Open(ctx, r) })
}

// Lookup implements ports.PaymentProvider.
func (p *Provider) Lookup(ctx context.Context, paymentID id.ID) (ports.ProviderPayment, error) {
	return p.ask(func() (ports.ProviderPayment, error) { return p.PaymentProvider.Lookup(ctx, paymentID) })
}

// Close implements ports.PaymentProvider.
func (p *Provider) Close(ctx context.Context, paymentID id.ID) (ports.ProviderPayment, error) {
	got, err := p.ask(func() (ports.ProviderPayment, error) { return p.PaymentProvider.Close(ctx, paymentID) })
	var late func()
	p.set(func() { late, p.late = p.late, nil })
	if late != nil {
		late()
	}
	return got, err
}

func (p *Provider) ask(call func() (ports.ProviderPayment, error)) (ports.ProviderPayment, error) {
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	if answer != nil {
		return answer(), nil
	}
	return through(p, call)
}

// Collect implements ports.PaymentProvider.
func (p *Provider) Collect(ctx context.Context, r ports.CollectRequest) (ports.ProviderPayment, error) {
	p.mu.Lock()
	collect := p.collect
	p.mu.Unlock()
	if collect != nil {
		return collect(r)
	}
	return through(p, func() (ports.ProviderPayment, error) { return p.PaymentProvider.Collect(ctx, r) })
}

// Refund implements ports.PaymentProvider.
func (p *Provider) Refund(ctx context.Context, r ports.RefundRequest) (ports.ProviderRefund, error) {
	return through(p, func() (ports.ProviderRefund, error) { return p.PaymentProvider.Refund(ctx, r) })
}

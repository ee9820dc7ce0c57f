package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"partnerdeposits/lab/formbrowser"
)

// openPage sends the form of checkout and passes the provider's page to then; then is nil for a tenant who leaves that
// page. A checkout that is over is no error.
func (s *stay) openPage(ctx context.Context, b *formbrowser.Browser, then func(formbrowser.Page) bool) error {
	tenant := map[string]string{"firstName": "Ada", "lastName": "Lovelace", "email": "ada@" + mailDomain, "agree": "yes"}
	return s.submit(ctx, b, "agree", tenant, then)
}

// submit sends the form of our checkout page that has the control, until the answer is a page of the provider or the
// form is gone.
func (s *stay) submit(
	ctx context.Context, b *formbrowser.Browser, control string, values map[string]string,
	then func(formbrowser.Page) bool,
) error {
	var last string
	deadline := time.Now().Add(s.o.deadline)
	for try := uint64(0); time.Now().Before(deadline); try++ {
		page, err := b.Get(ctx, s.load.base(s.number+try)+"/checkout/"+s.token)
		if err == nil && page.Status == http.StatusOK {
			if _, open := page.Form(control); !open {
				return nil
			}
			if page, err = b.Submit(ctx, page, control, values); err == nil {
				if strings.HasPrefix(page.URL.String(), s.fake.URL()) && (then == nil || then(page)) {
					return nil
				}
			}
		}
		if last = fmt.Sprint(err); err == nil {
			last = fmt.Sprintf("%d %s: %.2000s", page.Status, page.URL.Path, page.Body)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil //nolint:nilerr // the run ends
		}
	}
	return s.unexpected(ctx, "the form with %s led nowhere; last: %s", control, last)
}

// pay pays the fee as this tenant does: at once, after a refused card or a failed authentication, or not at all.
func (s *stay) pay(ctx context.Context) error {
	b := s.browser()
	way := s.draw(6)
	return s.openPage(ctx, b, func(page formbrowser.Page) bool {
		switch way {
		case 0:
			page = card(ctx, b, page, refusedCard)
		case 1, 2: // the issuer's question
			outcome := map[string]string{"outcome": []string{"fail", "complete"}[way-1]}
			page = fill(ctx, b, card(ctx, b, page, challengeCard), "outcome", outcome)
		}
		card(ctx, b, page, goodCard)
		return true
	})
}

// payDebt pays the captured amount on a page of the provider, after the saved card was refused. Some tenants leave the
// first page.
func (s *stay) payDebt(ctx context.Context) error {
	b := s.browser()
	leaves := s.draw(3) == 0
	return s.submit(ctx, b, "intent", map[string]string{"intent": "pay"}, func(page formbrowser.Page) bool {
		if !leaves {
			card(ctx, b, page, goodCard)
		}
		return true
	})
}

// card sends a card on the provider's page and gives the page that follows: of the provider, or ours.
func card(ctx context.Context, b *formbrowser.Browser, page formbrowser.Page, number string) formbrowser.Page {
	values := map[string]string{"cardNumber": number, "cardExpiry": "12/39", "cardCvc": "123"}
	return fill(ctx, b, page, "cardNumber", values)
}

// fill sends the form with the control. The page stays if it has no such form, and where the way back leads to a
// process that is killed.
func fill(
	ctx context.Context, b *formbrowser.Browser, page formbrowser.Page, control string, values map[string]string,
) formbrowser.Page {
	if next, err := b.Submit(ctx, page, control, values); err == nil {
		return next
	}
	return page
}

// draw is safe for two steps of a stay at once.
func (s *stay) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dice.IntN(n)
}

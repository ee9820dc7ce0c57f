package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/world"
)

// walks lists the walks in the order of the page.
var walks = []walk{
	{"post", onHTTP, post},
	{"delivery", onDispatcher, delivery},
	{"capture", onHTTP, capture},
	{"notice", onBoth, notice},
	{"feed", onBoth, feed},
}

func onHTTP(in *installation) []*world.Node       { return []*world.Node{in.http} }
func onDispatcher(in *installation) []*world.Node { return []*world.Node{in.dispatcher} }
func onBoth(in *installation) []*world.Node       { return []*world.Node{in.http, in.dispatcher} }

// post creates a deposit.
func post(ctx context.Context, in *installation) (func(context.Context) error, error) {
	p, err := in.partner(ctx)
	return func(ctx context.Context) error {
		_, err := in.create(ctx, p, "")
		return err
	}, err
}

// delivery takes an event from the outbox to the receiver's 2xx and its record. The change that makes the event is
// another process's.
func delivery(ctx context.Context, in *installation) (func(context.Context) error, error) {
	p, err := in.partner(ctx)
	if err != nil {
		return nil, err
	}
	url, end, err := receiver.Listen(taken) // nobody is connected to it yet
	if err != nil {
		return nil, err
	}
	in.ends = append(in.ends, end)
	subscription, _, err := in.Subscribe(ctx, p, url, webhook.EventNames, webhook.SecretPrefix+"walks")
	if err != nil {
		return nil, err
	}
	d, err := in.create(ctx, p, "")
	return func(ctx context.Context) error {
		if err := in.cancel(ctx, p, d); err != nil {
			return err
		}
		return in.await(ctx, `SELECT count(*) = 1 FROM deliveries WHERE subscription_id = $1 AND state = 2`, subscription)
	}, err
}

var taken = receiver.Serve(func(receiver.Webhook) (receiver.Answer, func(bool)) { return receiver.Take, nil })

// capture sends both forms of an operator whose two-factor codes are on, and whose tenant has paid the fee.
func capture(ctx context.Context, in *installation) (func(context.Context) error, error) {
	p, err := in.partner(ctx)
	if err != nil {
		return nil, err
	}
	d, err := in.secured(ctx, p)
	if err != nil {
		return nil, err
	}
	desk, err := in.signIn(ctx, p)
	if err != nil {
		return nil, err
	}
	shown, err := desk.browser.Get(ctx, in.http.Base+"/dashboard/deposits/"+d.ID+"/claim")
	return func(ctx context.Context) error {
		asked, err := desk.send(ctx, shown, "capture", map[string]string{"amount": "120.50", "reason": "damage"})
		if err != nil {
			return err
		}
		code, err := desk.code(1) // the one of the present step was used to turn codes on
		if err != nil {
			return err
		}
		if _, err := desk.send(ctx, asked, "capture", map[string]string{"code": code}); err != nil {
			return err
		}
		return in.await(ctx, `SELECT count(*) = 1 FROM payments WHERE deposit_id = $1 AND kind = 'collection'`, d.number)
	}, err
}

// notice disputes the payment of a fee, and sends the provider's notice. The mail to the operator ends the walk: it
// leaves so soon that no earlier end would be the same each time.
func notice(ctx context.Context, in *installation) (func(context.Context) error, error) {
	p, err := in.partner(ctx)
	if err != nil {
		return nil, err
	}
	d, err := in.secured(ctx, p)
	if err != nil {
		return nil, err
	}
	var payment id.ID
	err = in.Pool.QueryRow(ctx, `SELECT id FROM payments WHERE deposit_id = $1`, d.number).Scan(&payment)
	return func(ctx context.Context) error {
		if !in.fake.Dispute(id.Payment.Of(payment), "fraudulent") {
			return errors.New("the provider knows no charge of the fee")
		}
		all := in.fake.Events()
		status, err := in.fake.Send(ctx, site.URL(in.http.Base, site.ProviderCallbacks+"stripe"), all[len(all)-1])
		if err == nil && status != http.StatusNoContent {
			err = fmt.Errorf("the notice was answered %d", status)
		}
		if err != nil {
			return err
		}
		return in.await(ctx, `SELECT count(*) = 1 FROM mails JOIN disputes ON deposit_id = $1
			WHERE recipient = $2 AND mails.created_at >= disputes.created_at AND sent_at IS NOT NULL`, d.number, email(p))
	}, err
}

// feed waits for the event after the last one. Another process makes the event.
func feed(ctx context.Context, in *installation) (func(context.Context) error, error) {
	p, err := in.partner(ctx)
	if err != nil {
		return nil, err
	}
	var deposits [2]deposit
	for i := range deposits {
		if deposits[i], err = in.create(ctx, p, ""); err != nil {
			return nil, err
		}
	}
	if err := in.cancel(ctx, p, deposits[0]); err != nil {
		return nil, err
	}
	read := func(ctx context.Context, n *world.Node, after int, wait string) (events int, err error) {
		var data []struct{}
		a := in.client.Do(ctx, world.Call{Base: n.Base, APIKey: p.Key, Method: http.MethodGet,
			Path: fmt.Sprint("/events/feed?after=", after, wait)})
		err = a.Into(&data)
		return len(data), err
	}
	err = procs.Await(ctx, nil, func() error {
		events, err := read(ctx, in.second, 0, "")
		if err == nil && events != 1 {
			err = fmt.Errorf("%d events in the feed", events)
		}
		return err
	})
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error {
			events, err := read(ctx, in.http, 1, "&waitSeconds=25")
			if err == nil && events != 1 {
				err = fmt.Errorf("%d events arrived", events)
			}
			return err
		})
		group.Go(func() error {
			if err := pause(ctx, time.Second/2); err != nil { // the request waits by then
				return err
			}
			return in.cancel(ctx, p, deposits[1])
		})
		return group.Wait()
	}, err
}

// deposit holds the fields that the walks read of the API's answer to a new deposit; number is the ID, decoded.
type deposit struct {
	ID         string
	DepositURL string

	number id.ID
}

// create makes a deposit through the API. more are further fields of the body.
func (in *installation) create(ctx context.Context, p world.Partner, more string) (d deposit, err error) {
	const week = 7
	from := time.Now().UTC().AddDate(0, 0, 1)
	a := in.client.Do(ctx, world.Call{
		Base: in.http.Base, APIKey: p.Key, Path: "/deposits", Key: uuid.NewString(),
		Body: fmt.Sprintf(`{"accountId":%q,"amount":500,"contractStartAt":%q,"contractEndAt":%q,"rentalContract":"W-1"%s}`,
			id.Account.Of(p.Account), from.Format(time.RFC3339), from.AddDate(0, 0, week).Format(time.RFC3339), more),
	})
	if err := answered(a); err != nil {
		return d, err
	}
	if err = a.Into(&d); err == nil {
		d.number, _ = id.Deposit.Parse(d.ID)
	}
	return d, err
}

// cancel cancels a deposit at the second http process.
func (in *installation) cancel(ctx context.Context, p world.Partner, d deposit) error {
	return answered(in.client.Do(ctx, world.Call{
		Base: in.second.Base, APIKey: p.Key, Path: path.Join("/deposits", d.ID, "cancel"), Body: `{}`,
	}))
}

func answered(a world.Answer) error {
	if a.Err == nil && !a.OK() {
		return fmt.Errorf("the API answered %d %s", a.Status, a.Body)
	}
	return a.Err
}

// await waits until a query answers true.
func (in *installation) await(ctx context.Context, query string, args ...any) error {
	return procs.Await(ctx, nil, func() error {
		var yes bool
		err := in.Pool.QueryRow(ctx, query, args...).Scan(&yes)
		if err == nil && !yes {
			err = fmt.Errorf("still not: %s", query)
		}
		return err
	})
}

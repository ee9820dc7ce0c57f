package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/partners"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

const (
	demoSlug    = "demo"
	demoName    = "Demo Stays"
	sandboxKey  = "sandbox"
	seedTimeout = 60 * time.Second
	seedPause   = 50 * time.Millisecond
)

var client = &http.Client{Timeout: 10 * time.Second}

// demo holds the credentials and addresses of the sandbox's partner, for the tour.
type demo struct {
	apiBaseURL, dashboardBaseURL string
	partnerID, slug              string
	connectSecret, apiKey        secret.Text
	connectURL, email, company   string
	receiverURL, webhookID       string
	httpMetrics, dispatcherStats string
	adminLine                    string
	payer                        payer
	provider                     string
	mails                        string
	components                   bool
}

type payer string

const (
	simulated payer = "simulated"
	onFake    payer = "on fake"
	person    payer = "person"
	nobody    payer = "nobody" // No tenant can pay, since the service runs without a payment provider.
)

// demoOf returns the facts about the demo partner that follow from the settings. faked reports whether the sandbox
// runs a fake of the payment provider.
func demoOf(cfg config.Config, faked bool, adminLine string) demo {
	d := demo{adminLine: adminLine, payer: person, provider: cfg.PaymentsProviderOrDefault(),
		components: cfg.Environment == partner.EnvironmentDevelopment}
	switch {
	case faked:
		d.payer = onFake
	case d.provider == config.PaymentsSandbox:
		d.payer = simulated
	case d.provider == config.PaymentsNone:
		d.payer = nobody
	}
	switch {
	case cfg.CatchesMails():
		d.mails = site.PageURL(cfg.DashboardBaseURL, site.CaughtMailsPath)
	case cfg.SMTPURL == "":
		d.mails = "wait in the database, since SMTP_URL is not set"
	default:
		// The error is ignored, since config.Load has already checked that SMTP_URL is a URL.
		server, _ := url.Parse(cfg.SMTPURL.Reveal())
		d.mails = "go out through the mail server of SMTP_URL, " + server.Host
	}
	return d
}

// demoPart returns the part of the sandbox that creates the demo partner once the service is ready, prints the
// tour, and writes the file of facts for scripts.
func demoPart(d demo, cfg config.Config, l listeners, target *receiver.Receiver, log *slog.Logger,
	stdout io.Writer) run.Part {
	return run.Part{
		Name: "demo",
		Start: func(ctx context.Context, _ func(error)) error {
			ctx, cancel := context.WithTimeout(ctx, seedTimeout)
			defer cancel()
			for _, each := range []net.Listener{l.httpMetrics, l.dispatcherMetrics} {
				if err := awaitReady(ctx, at(each)+"/readyz"); err != nil {
					return err
				}
			}
			if err := d.seed(ctx, cfg, l, target, log); err != nil {
				return err
			}
			if err := d.writeFile(sandboxFile); err != nil {
				return err
			}
			_, err := io.WriteString(stdout, d.tour(time.Now().UTC()))
			return err
		},
		Stop: func(context.Context) error { return removeFile(sandboxFile) },
	}
}

func at(l net.Listener) string { return "http://" + l.Addr().String() }

func awaitReady(ctx context.Context, url string) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the service did not become ready: %w", ctx.Err())
		case <-time.After(seedPause):
		}
	}
}

// seed creates the demo partner and subscribes its receiver through the API, as a real partner does.
func (d *demo) seed(ctx context.Context, cfg config.Config, l listeners, target *receiver.Receiver,
	log *slog.Logger) error {
	d.apiBaseURL, d.dashboardBaseURL, d.slug = cfg.APIBaseURL, cfg.DashboardBaseURL, demoSlug
	d.receiverURL = at(l.receiver) + receiver.WebhookPath
	d.httpMetrics, d.dispatcherStats = at(l.httpMetrics)+"/metrics", at(l.dispatcherMetrics)+"/metrics"
	admin, err := wire.NewAdminCommands(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer admin.Close(ctx)
	if err := d.seedPartner(ctx, admin); err != nil {
		return err
	}
	// A database of an earlier run may contain operators, so each tour uses a new operator.
	suffix := strings.ToLower(rand.Text()[:5])
	d.email, d.company = "olivia."+suffix+"@example.com", "Villa Olivia"
	d.connectURL, err = admin.Connections.BuildConnectURL(ctx, connections.ConnectURLRequest{
		PartnerSlug: d.slug, ExternalID: "operator-" + suffix, Email: d.email, Name: d.company,
	})
	if err != nil {
		return err
	}
	return d.subscribe(ctx, target)
}

// seedPartner creates the demo partner, or replaces the credentials of one from an earlier run.
func (d *demo) seedPartner(ctx context.Context, admin *wire.AdminCommands) error {
	made, err := admin.Partners.Create(ctx, partners.NewPartner{Slug: demoSlug, Name: demoName})
	if err == nil {
		d.partnerID, d.connectSecret, d.apiKey = id.Partner.Of(made.Partner.ID), made.ConnectSecret, made.APIKey
		return nil
	}
	if !errors.Is(err, partner.ErrSlugTaken) {
		return err
	}
	there, err := admin.Partners.Get(ctx, demoSlug)
	if err != nil {
		return err
	}
	d.partnerID = id.Partner.Of(there.ID)
	if d.connectSecret, err = admin.Partners.RotateConnectSecret(ctx, demoSlug); err != nil {
		return err
	}
	if err := revokeKeys(ctx, admin, sandboxKey); err != nil {
		return err
	}
	_, d.apiKey, err = admin.Partners.CreateKey(ctx, demoSlug, sandboxKey)
	return err
}

// revokeKeys revokes the demo partner's API keys of a name, so that repeated runs of the sandbox do not reach the
// limit of keys.
func revokeKeys(ctx context.Context, admin *wire.AdminCommands, name string) error {
	keys, err := admin.Partners.ListAllKeys(ctx, demoSlug)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.Name != name || k.Revoked() {
			continue
		}
		if _, err := admin.Partners.RevokeKey(ctx, id.APIKey.Of(k.ID)); err != nil {
			return err
		}
	}
	return nil
}

// subscribe registers the demo receiver for webhooks and deletes the subscription of an earlier run.
func (d *demo) subscribe(ctx context.Context, target *receiver.Receiver) error {
	type hook struct {
		ID     string `json:"id"`
		URL    string `json:"url"`
		Secret string `json:"secret"`
	}
	var there struct {
		Data []hook `json:"data"`
	}
	if err := d.call(ctx, http.MethodGet, "/webhooks", nil, &there); err != nil {
		return err
	}
	for _, h := range there.Data {
		if strings.HasPrefix(h.URL, "http://127.0.0.1:") && strings.HasSuffix(h.URL, receiver.WebhookPath) {
			if err := d.call(ctx, http.MethodDelete, "/webhooks/"+h.ID, nil, nil); err != nil {
				return err
			}
		}
	}
	var made struct {
		Data hook `json:"data"`
	}
	if err := d.call(ctx, http.MethodPost, "/webhooks", map[string]string{"url": d.receiverURL}, &made); err != nil {
		return err
	}
	d.webhookID = made.Data.ID
	target.SetSecret(made.Data.Secret)
	target.SetCapturedAmountLookup(d.captured)
	return nil
}

func (d demo) captured(ctx context.Context, depositID string) (int64, error) {
	var found struct {
		Data struct {
			CapturedAmountCents int64 `json:"capturedAmountCents"`
		} `json:"data"`
	}
	err := d.call(ctx, http.MethodGet, "/deposits/"+url.PathEscape(depositID), nil, &found)
	return found.Data.CapturedAmountCents, err
}

// call sends a JSON request to the partner API and decodes the JSON of the response into the value into.
func (d demo) call(ctx context.Context, method, path string, body, into any) error {
	var payload bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&payload).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, d.apiBaseURL+"/api/partner/v1"+path, &payload)
	if err != nil {
		return err
	}
	request.Header.Set("x-api-key", d.apiKey.Reveal())
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s answered %s", method, path, response.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}

package main

import (
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/google/uuid"
)

var tourText = template.Must(template.New("tour").Parse(`
# ── The service runs. A tour, to be copied line by line into a shell ──────────────────────────────
#
#   API      {{.API}}        documentation  {{.Base}}/docs
#   pages    {{.Dashboard}}/dashboard{{if .Components}}   components {{.Dashboard}}/styleguide{{end}}
#   mails    {{.Mails}}
#   partner  {{.Slug}}   API key {{.Key}}
#   admin    {{.Admin}}

# 1. An operator connects. Open this link and sign up with any password of 10 characters:
#
#      {{.ConnectURL}}
#
#    … or let curl do it. Either way a signed webhook is printed here a moment later.

API={{.API}}
DASHBOARD={{.Dashboard}}
KEY={{.Key}}
CONNECT_SECRET={{.ConnectSecret}}
field() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }
hidden() { grep -o "name=\"$1\" value=\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }
JAR=$(mktemp)
CONNECT='{{.ConnectURL}}'
TOKEN=$(curl -s -c "$JAR" "$CONNECT" | hidden csrf_token)
curl -s -b "$JAR" -c "$JAR" "$CONNECT" -o /dev/null -w '%{http_code} → %{redirect_url}\n' --data-urlencode 'email={{.Email}}' --data-urlencode 'companyName={{.Company}}' -d 'password=correct-horse' -d "csrf_token=$TOKEN"

# 2. The partner sees the account.

curl -s "$API/accounts" -H "x-api-key: $KEY" -w '\n'
ACCOUNT=$(curl -s "$API/accounts" -H "x-api-key: $KEY" | field accountId)

# 3. It creates a deposit. Sent again, the same key gives the same deposit (Idempotent-Replayed: true).

BODY='{"accountId":"'$ACCOUNT'","amount":700,"contractStartAt":"{{.Start}}","contractEndAt":"{{.End}}","rentalContract":"BOOKING-1001","depositUrlGeneration":true,"returnUrl":"{{.ReturnURL}}"}'
curl -s "$API/deposits" -H "x-api-key: $KEY" -H 'Idempotency-Key: {{.Key1}}' -H 'Content-Type: application/json' -d "$BODY" -w '\n'
CREATED=$(curl -s "$API/deposits" -H "x-api-key: $KEY" -H 'Idempotency-Key: {{.Key1}}' -H 'Content-Type: application/json' -d "$BODY")
DEPOSIT=$(echo "$CREATED" | field id)

{{if eq .Payer "nobody"}}# 4. and 5. PAYMENTS_PROVIDER=none takes no payments: checkout asks the tenant to come back, and nothing can be captured.

echo "$CREATED" | field depositUrl
{{else if eq .Payer "person"}}# 4. The tenant secures it. Open the address below and pay on the page of {{.Provider}}; in test mode the card 4242 4242 4242 4242 is good.

echo "$CREATED" | field depositUrl

#    The next line waits for the payment.

until curl -s "$API/deposits/$DEPOSIT" -H "x-api-key: $KEY" | grep '"status":"active"'; do sleep 1; done
{{else}}# 4. The tenant secures it. Open the address below; the card 4242 4242 4242 4242 is good, with any later date and any code.

echo "$CREATED" | field depositUrl
{{if eq .Payer "simulated"}}
#    … or say that the tenant did.

curl -s "$API/test/deposits/$DEPOSIT/simulate" -H "x-api-key: $KEY" -H 'Content-Type: application/json' -d '{"outcome":"activate"}' -w '\n'
{{- else}}
#    … or let curl do it: the tenant agrees at checkout, pays on the page of the fake of {{.Provider}}, and comes back.

TENANT=$(mktemp)
CHECKOUT=$(echo "$CREATED" | field depositUrl)
FORM=$(curl -s -c "$TENANT" "$CHECKOUT")
PAGE=$(curl -s -b "$TENANT" -c "$TENANT" "$CHECKOUT" -o /dev/null -w '%{redirect_url}' -d 'firstName=Grace' -d 'lastName=Hopper' -d 'email=grace@example.com' -d 'agree=yes' -d "words=$(echo "$FORM" | hidden words)" -d "csrf_token=$(echo "$FORM" | hidden csrf_token)")
curl -s -L -b "$TENANT" "$PAGE" -o /dev/null -w '%{http_code} ← %{url_effective}\n' -d 'cardNumber=4242424242424242' -d 'cardExpiry=12/40' -d 'cardCvc=123'
{{- end}}
curl -s "$API/deposits/$DEPOSIT" -H "x-api-key: $KEY" -w '\n'
{{end}}
{{if ne .Payer "nobody"}}# 5. There was damage: the partner captures a part.

curl -s "$API/deposits/$DEPOSIT/capture" -H "x-api-key: $KEY" -H 'Content-Type: application/json' -d '{"amount":120.50,"reason":"damage"}' -w '\n'

{{end}}# 6. Another booking falls through: its deposit is cancelled.

OTHER=$(curl -s "$API/deposits" -H "x-api-key: $KEY" -H 'Idempotency-Key: {{.Key2}}' -H 'Content-Type: application/json' -d "$BODY" | field id)
curl -s -X POST "$API/deposits/$OTHER/cancel" -H "x-api-key: $KEY" -w '\n'

# 7. What was delivered to the receiver, a test delivery, and the feed: every event once, numbered without a gap.

curl -s "$API/webhooks/{{.Webhook}}/deliveries" -H "x-api-key: $KEY" -w '\n'
curl -s -X POST "$API/webhooks/{{.Webhook}}/test" -H "x-api-key: $KEY" -w '\n'
curl -s "$API/events/feed" -H "x-api-key: $KEY" -w '\n'

# 8. A new signing secret. The old one signs nothing from now on, so the receiver is told.

SECRET=$(curl -s -X POST "$API/webhooks/{{.Webhook}}/rotate-secret" -H "x-api-key: $KEY" | field secret)
curl -s -X PUT "{{.SecretURL}}" -d "$SECRET"

# ── The same facts for scripts: {{.File}}. Ctrl-C stops everything. Webhooks arrive below ──

`))

// tour returns the sandbox's tour. Its deposits lie in the future, so that they do not end early.
func (d demo) tour(now time.Time) string {
	base := strings.TrimSuffix(d.receiverURL, "/webhooks")
	var out strings.Builder
	err := tourText.Execute(&out, map[string]any{
		"API": d.apiBaseURL + "/api/partner/v1", "Base": d.apiBaseURL, "Dashboard": d.dashboardBaseURL,
		"Slug": d.slug, "Key": d.apiKey.Reveal(), "ConnectSecret": d.connectSecret.Reveal(), "ConnectURL": d.connectURL,
		"Admin": d.adminLine, "Payer": d.payer, "Provider": d.provider, "Mails": d.mails, "Components": d.components,
		"Email": d.email, "Company": d.company,
		"Start": now.Add(24 * time.Hour).Format(time.RFC3339), "End": now.Add(8 * 24 * time.Hour).Format(time.RFC3339),
		"ReturnURL": base + "/thanks", "SecretURL": base + "/secret", "Webhook": d.webhookID, "File": sandboxFile,
		"Key1": uuid.NewString(), "Key2": uuid.NewString(),
	})
	if err != nil { // A template error here is a programming mistake, since the template is a constant.
		panic(fmt.Sprintf("sandbox: tour: %v", err))
	}
	return out.String()
}

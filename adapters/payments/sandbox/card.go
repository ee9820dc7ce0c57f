package sandbox

import (
	"strconv"
	"strings"
	"time"

	paymentports "partnerdeposits/ports/payments"
)

// Card numbers and failure codes of the sandbox. Payments with its test cards always end the same way
// (pages.md, "Sandbox").
const (
	goodCard = "4242424242424242"
	badCard  = "4000000000000002"
	// A test card whose later charges, after that of the fee, are refused for a while and may be tried again.
	laterCard = "4000000000000341"
	// A test card that pays the fee and then refuses later charges until the tenant authenticates.
	tenantCard = "4000002760003184"

	failureDeclined = "card_declined"
	failureGeneric  = "generic_decline"
	failureTenant   = "authentication_required"
	failureNoCard   = "no_card_on_file"
	failureUnknown  = "card_declined: not one of the sandbox's test cards"
)

// card is what a tenant typed on the sandbox's payment page. It is never stored.
type card struct {
	number string
	expiry string
	cvc    string
}

// mistake names the first invalid field of the card form; "" means none.
type mistake string

const (
	noMistake     mistake = ""
	wrongNumber   mistake = "cardNumber"
	wrongExpiry   mistake = "cardExpiry"
	expiredCard   mistake = "expired"
	wrongCVC      mistake = "cardCvc"
	maxCardDigits         = 19
	minCardDigits         = 12
)

func (c card) check(now time.Time) mistake {
	number := digits(c.number)
	if len(number) < minCardDigits || len(number) > maxCardDigits || !luhn(number) {
		return wrongNumber
	}
	end, ok := expiryEnd(c.expiry)
	if !ok {
		return wrongExpiry
	}
	if !now.Before(end) {
		return expiredCard
	}
	if n := len(strings.TrimSpace(c.cvc)); (n != 3 && n != 4) || leading(strings.TrimSpace(c.cvc)) != n {
		return wrongCVC
	}
	return noMistake
}

type verdict struct {
	status  paymentports.ProviderPaymentStatus
	failure string
	// The code with which the bank refuses later charges without the tenant; "" if it accepts them.
	later string
}

// refusals maps the failure codes of charges without the tenant to the kind of refusal.
var refusals = map[string]paymentports.ChargeRefusalKind{
	failureGeneric: paymentports.ChargeRefusedForNow,
	failureTenant:  paymentports.ChargeRefusedUntilTenantActs,
	failureNoCard:  paymentports.ChargeRefusedUntilTenantActs,
}

// charge returns the outcome of a payment, which depends on the card's number only.
func (c card) charge() verdict {
	switch digits(c.number) {
	case goodCard:
		return verdict{status: paymentports.ProviderPaymentSucceeded}
	case laterCard:
		return verdict{status: paymentports.ProviderPaymentSucceeded, later: failureGeneric}
	case tenantCard:
		return verdict{status: paymentports.ProviderPaymentSucceeded, later: failureTenant}
	case badCard:
		return verdict{status: paymentports.ProviderPaymentFailed, failure: failureDeclined}
	default:
		return verdict{status: paymentports.ProviderPaymentFailed, failure: failureUnknown}
	}
}

// digits returns a card number without blanks and dashes; "" if it has other characters.
func digits(s string) string {
	s = strings.NewReplacer(" ", "", "\u00a0", "", "-", "").Replace(s)
	if leading(s) != len(s) {
		return ""
	}
	return s
}

func leading(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// luhn reports whether a card number has the right check digit (ISO/IEC 7812-1, annex B).
func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// expiryEnd returns the end of a card's last valid month, from an expiry MM/YY or MM/YYYY.
func expiryEnd(s string) (time.Time, bool) {
	month, year, found := strings.Cut(strings.ReplaceAll(s, " ", ""), "/")
	if !found || leading(month) != len(month) || leading(year) != len(year) || (len(year) != 2 && len(year) != 4) ||
		len(month) == 0 || len(month) > 2 {
		return time.Time{}, false
	}
	m, err := strconv.Atoi(month)
	if err != nil || m < 1 || m > 12 {
		return time.Time{}, false
	}
	y, err := strconv.Atoi(year)
	if err != nil {
		return time.Time{}, false
	}
	if len(year) == 2 {
		y += 2000
	}
	return time.Date(y, time.Month(m)+1, 1, 0, 0, 0, 0, time.UTC), true
}

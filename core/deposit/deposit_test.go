package deposit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

var start = time.Date(2026, 7, 1, 12, 0, 0, 123_456_000, time.UTC)

const day = 24 * time.Hour

func sample() *deposit.Deposit {
	return deposit.New(id.ID{1, 15: 1}, "D-7K3M-9Q2X",
		deposit.Origin{AccountID: id.ID{2, 15: 1}, PartnerID: id.ID{3, 15: 1}, PartnerName: "Demo PMS", ExternalID: "op-1",
			ByPartnerAPI: true},
		deposit.Draft{Amount: 50_000, ContractStartAt: start, ContractEndAt: start.Add(7 * day), RentalContract: "B-1"},
		&deposit.ClientDetails{ID: id.ID{4, 15: 1}, Email: "ana@example.com", FirstName: "Ana", LastName: "Días <&>"}, start)
}

// stay sets the rental period, counted from start.
func stay(from, to time.Duration) func(*deposit.Draft) {
	return func(d *deposit.Draft) { d.ContractStartAt, d.ContractEndAt = start.Add(from), start.Add(to) }
}

func TestDraft_Validate(t *testing.T) {
	now := start.Add(-time.Microsecond) // the last moment of the stay: its end is not over
	good := deposit.Draft{Amount: 7_000, ContractStartAt: start, ContractEndAt: start}
	require.NoError(t, good.Validate(deposit.DefaultMaxAmount, now))
	many := map[string]string{}
	for i := range 21 {
		many[strings.Repeat("k", i+1)] = "v"
	}
	cases := []struct {
		name    string
		change  func(*deposit.Draft)
		code    string
		message string
	}{
		{"a cent too little", func(d *deposit.Draft) { d.Amount = 6_999 }, "amount_below_minimum",
			"amount: 69.99 EUR is below the minimum of 70.00 EUR"},
		{"negative", func(d *deposit.Draft) { d.Amount = -1 }, "amount_below_minimum",
			"amount: -0.01 EUR is below the minimum of 70.00 EUR"},
		{"a cent too much", func(d *deposit.Draft) { d.Amount = 250_001 }, "amount_above_maximum",
			"amount: 2500.01 EUR exceeds this operator's maximum of 2500.00 EUR"},
		{"1e400", func(d *deposit.Draft) { d.Amount = money.MaxParsedCents }, "amount_above_maximum",
			"amount: exceeds this operator's maximum of 2500.00 EUR"},
		{"-1e400", func(d *deposit.Draft) { d.Amount = -money.MaxParsedCents }, "amount_below_minimum",
			"amount: is below the minimum of 70.00 EUR"},
		{"ends before it starts", func(d *deposit.Draft) { d.ContractEndAt = start.Add(-time.Second) }, "invalid_date_range",
			"contractEndAt: is before contractStartAt."},
		{"ends now", stay(-day, -time.Microsecond), "invalid_date_range", "contractEndAt: has passed: the stay is over"},
		{"ended a second ago", stay(-day, -time.Second), "invalid_date_range",
			"contractEndAt: has passed: the stay is over"},
		{"ended years ago", stay(-999*day, -990*day), "invalid_date_range", "contractEndAt: has passed: the stay is over"},
		{"is over, and ends before it starts", stay(-day, -2*day), "invalid_date_range",
			"contractEndAt: is before contractStartAt."},
		{"long contract", func(d *deposit.Draft) { d.RentalContract = strings.Repeat("é", 256) }, "invalid_field",
			"rentalContract: is longer than 255 characters"},
		{"url without return", func(d *deposit.Draft) { d.URLGeneration = true }, "missing_field",
			"returnUrl: is required when depositUrlGeneration is true"},
		{"http", func(d *deposit.Draft) { d.ReturnURL = "http://pms.example/" }, "invalid_return_url",
			"returnUrl: must be https (http is allowed for localhost only)"},
		{"empty metadata key", func(d *deposit.Draft) { d.Metadata = map[string]string{"": ""} }, "invalid_field",
			"metadata: a key must have 1 to 40 characters"},
		{"metadata keys", func(d *deposit.Draft) { d.Metadata = many }, "invalid_field", "metadata: has more than 20 keys"},
		{"metadata key", func(d *deposit.Draft) { d.Metadata = map[string]string{strings.Repeat("k", 41): ""} },
			"invalid_field", "metadata: a key must have 1 to 40 characters"},
		{"metadata value", func(d *deposit.Draft) { d.Metadata = map[string]string{"k": strings.Repeat("v", 501)} },
			"invalid_field", "metadata: a value is longer than 500 characters"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := good
			c.change(&d)
			f := fault.FromError(d.Validate(deposit.DefaultMaxAmount, now))
			require.Equal(t, c.code, f.Code)
			require.Equal(t, c.message, f.Message)
		})
	}
	local := good
	local.ReturnURL, local.URLGeneration, local.Amount = "http://localhost:3000/x", true, 400_000
	require.NoError(t, local.Validate(400_000, now), "a negotiated ceiling is inclusive")
	begun := good
	stay(-999*day, 0)(&begun)
	require.NoError(t, begun.Validate(deposit.DefaultMaxAmount, now), "a stay may have begun")
	full := good
	full.RentalContract = strings.Repeat("é", 255)
	full.Metadata = map[string]string{strings.Repeat("é", 40): strings.Repeat("é", 500)}
	for i := range 19 {
		full.Metadata[strings.Repeat("k", i+1)] = ""
	}
	require.NoError(t, full.Validate(deposit.DefaultMaxAmount, now), "every limit is inclusive")
}

// The order of the checks is a promise (api.md §1): a draft with several mistakes is refused for the first.
func TestDraft_WithSeveralMistakes_IsRefusedForTheFirst(t *testing.T) {
	mistakes := []struct {
		code string
		make func(*deposit.Draft)
	}{
		{"amount_below_minimum", func(d *deposit.Draft) { d.Amount = 6_999 }},
		{"amount_above_maximum", func(d *deposit.Draft) { d.Amount = 250_001 }},
		{"invalid_date_range", func(d *deposit.Draft) { d.ContractEndAt = start.Add(-time.Second) }},
		{"invalid_date_range", stay(-day, 0)},
		{"invalid_field", func(d *deposit.Draft) { d.RentalContract = strings.Repeat("x", 256) }},
		{"missing_field", func(d *deposit.Draft) { d.URLGeneration = true }},
		{"invalid_return_url", func(d *deposit.Draft) { d.ReturnURL = "http://pms.example/" }},
		{"invalid_field", func(d *deposit.Draft) { d.Metadata = map[string]string{"": ""} }},
	}
	for i := range mistakes {
		d := deposit.Draft{Amount: 7_000, ContractStartAt: start, ContractEndAt: start.Add(time.Second)}
		for later := len(mistakes) - 1; later >= i; later-- { // the first mistake is made last, so that no other covers it
			if mistakes[i].code != "missing_field" || mistakes[later].code != "invalid_return_url" {
				mistakes[later].make(&d)
			}
		}
		require.Equal(t, mistakes[i].code, fault.FromError(d.Validate(deposit.DefaultMaxAmount, start)).Code)
	}
}

func TestTimers_CoverageEnd(t *testing.T) {
	timers := deposit.DefaultTimerDurations()
	require.Equal(t, start.Add(21*day), timers.CoverEndTime(start.Add(7*day), start))
	require.Equal(t, start.Add(60*day), timers.CoverEndTime(start.Add(90*day), start), "never more than 60 days")
	require.Equal(t, start.Add(day), timers.CoverEndTime(start.Add(-100*day), start), "never less than a day")
	require.Equal(t, start.Add(day), deposit.CheckoutExpiry(start.Add(-day), start))
	require.Equal(t, start.Add(3*day), deposit.CheckoutExpiry(start.Add(3*day), start))
}

func TestCapture_AfterExpiry_IsRefused(t *testing.T) {
	d := sample()
	_, err := d.ApplyTrigger(deposit.TriggerSecured, deposit.DefaultTimerDurations(), start)
	require.NoError(t, err)
	before := *d
	_, err = d.Capture(nil, least, deposit.DefaultTimerDurations(), d.ExpiresAt)
	require.ErrorIs(t, err, deposit.ErrNotCapturable)
	require.Equal(t, before, *d)
	_, err = d.Capture(nil, least, deposit.DefaultTimerDurations(), d.ExpiresAt.Add(-time.Microsecond))
	require.NoError(t, err)
	require.Equal(t, d.Amount, d.CapturedAmount)
}

// least is the smallest amount that the provider of these tests charges.
const least money.Cents = 50

func TestCapture_BelowWhatTheProviderCharges_NamesTheBound(t *testing.T) {
	d := sample()
	_, err := d.ApplyTrigger(deposit.TriggerSecured, deposit.DefaultTimerDurations(), start)
	require.NoError(t, err)
	amount := money.Cents(1)
	_, err = d.Capture(&amount, least, deposit.DefaultTimerDurations(), start)
	require.Equal(t, "amount: 0.01 EUR is below the minimum of 0.50 EUR that can be charged to a card",
		fault.FromError(err).Message)
}

func TestCapture_Amounts(t *testing.T) {
	for amount, code := range map[money.Cents]string{
		0: "invalid_field", -1: "invalid_field", 1: "capture_below_minimum", 49: "capture_below_minimum", 50: "", 50_000: "",
		50_001: "capture_exceeds_amount",
	} {
		d := sample()
		_, err := d.ApplyTrigger(deposit.TriggerSecured, deposit.DefaultTimerDurations(), start)
		require.NoError(t, err)
		_, err = d.Capture(&amount, least, deposit.DefaultTimerDurations(), start)
		if code == "" {
			require.NoError(t, err)
			require.Equal(t, amount, d.CapturedAmount)
			continue
		}
		require.Equal(t, code, fault.FromError(err).Code)
		require.Equal(t, deposit.Active, d.Status)
	}
}

// Cancel, capture and release in every status: the fault names the act, and a refused act changes nothing.
func TestActs_InEveryStatus(t *testing.T) {
	timers := deposit.DefaultTimerDurations()
	capture := func(d *deposit.Deposit) error { _, err := d.Capture(nil, least, timers, start); return err }
	apply := func(t deposit.Trigger) func(*deposit.Deposit) error {
		return func(d *deposit.Deposit) error { _, err := d.ApplyTrigger(t, timers, start); return err }
	}
	acts := map[string]struct {
		act     func(*deposit.Deposit) error
		from    []deposit.Status
		to      deposit.Status
		reason  string
		refusal error
	}{
		"cancel by the partner": {apply(deposit.TriggerCancelledByPartner), []deposit.Status{deposit.Pending,
			deposit.Incomplete,
			deposit.PaymentIssue}, deposit.Cancelled, "by_partner", deposit.ErrNotCancellable},
		"cancel by the operator": {apply(deposit.TriggerCancelledByOperator), []deposit.Status{deposit.Pending,
			deposit.Incomplete,
			deposit.PaymentIssue}, deposit.Cancelled, "by_operator", deposit.ErrNotCancellable},
		"release": {apply(deposit.TriggerReleased), []deposit.Status{deposit.Active}, deposit.Closed, "released",
			deposit.ErrNotReleasable},
		"capture": {capture, []deposit.Status{deposit.Active}, deposit.Captured, "claim", deposit.ErrNotCapturable},
	}
	for name, c := range acts {
		for _, status := range deposit.Statuses {
			d := sample()
			d.Status, d.ExpiresAt = status, start.Add(day)
			before := *d
			err := c.act(d)
			if slices.Contains(c.from, status) {
				require.NoError(t, err, "%s, %s", name, status)
				require.Equal(t, []any{c.to, c.reason, 2, start}, []any{d.Status, d.StatusReason, d.Version, d.UpdatedAt}, name)
				continue
			}
			require.ErrorIs(t, err, c.refusal, "%s, %s", name, status)
			require.ErrorContains(t, err, "It is "+string(status)+".")
			require.Equal(t, before, *d)
		}
	}
}

func TestRelease_AfterTheCover_BeforeTheTimer_ClosesTheDeposit(t *testing.T) {
	d := sample()
	d.Status, d.ExpiresAt = deposit.Active, start
	_, err := d.ApplyTrigger(deposit.TriggerReleased, deposit.DefaultTimerDurations(), start.Add(day))
	require.NoError(t, err)
	require.Equal(t, []any{deposit.Closed, start.Add(day)}, []any{d.Status, d.ClosedAt})
}

func TestCapture_OfABadAmountInAnotherStatus_NamesTheAmount(t *testing.T) {
	for amount, code := range map[money.Cents]string{0: "invalid_field", 50_001: "capture_exceeds_amount",
		1: "capture_below_minimum", 50: "deposit_not_capturable"} {
		_, err := sample().Capture(&amount, least, deposit.DefaultTimerDurations(), start)
		require.Equal(t, code, fault.FromError(err).Code)
	}
}

func TestCoversContract(t *testing.T) {
	timers := deposit.DefaultTimerDurations()
	d := sample()
	require.True(t, d.CoversContract(timers, start))
	d.ContractEndAt = start.Add(61 * day)
	require.False(t, d.CoversContract(timers, start))
}

func TestEventData_IsThePublicPayload(t *testing.T) {
	d := sample()
	step, err := d.ApplyTrigger(deposit.TriggerSecured, deposit.DefaultTimerDurations(), start)
	require.NoError(t, err)
	golden(t, "payload_activated.golden", string(d.EventData(step))+"\n")
	d.Client, d.ByPartnerAPI = nil, false
	part := money.Cents(12_050)
	step, err = d.Capture(&part, least, deposit.DefaultTimerDurations(), start)
	require.NoError(t, err)
	golden(t, "payload_dashboard_no_client.golden", string(d.EventData(step))+"\n")
}

// A receiver orders the events of a deposit by their versions (api.md §5, "Order").
func TestEventData_OfEveryTransition_HasItsVersion_AndTheAmountOnceCaptured(t *testing.T) {
	type move = func(*deposit.Deposit) (deposit.Transition, error)
	by := func(trigger deposit.Trigger) move {
		return func(d *deposit.Deposit) (deposit.Transition, error) {
			return d.ApplyTrigger(trigger, deposit.DefaultTimerDurations(), start)
		}
	}
	capture := func(amount *money.Cents) move {
		return func(d *deposit.Deposit) (deposit.Transition, error) {
			return d.Capture(amount, least, deposit.DefaultTimerDurations(), start)
		}
	}
	part := money.Cents(12_050)
	for name, c := range map[string]struct {
		moves []move
		want  []string
	}{
		"captured wholly": {[]move{by(deposit.TriggerCheckoutIdle), by(deposit.TriggerFeeFailed),
			by(deposit.TriggerSecured), capture(nil)},
			[]string{"null", "null", "null", "50000"}},
		"captured in part": {[]move{by(deposit.TriggerSecured), capture(&part)}, []string{"null", "12050"}},
		"expired":          {[]move{by(deposit.TriggerSecured), by(deposit.TriggerCoverElapsed)}, []string{"null", "null"}},
		"released":         {[]move{by(deposit.TriggerSecured), by(deposit.TriggerReleased)}, []string{"null", "null"}},
		"cancelled":        {[]move{by(deposit.TriggerFeeFailed), by(deposit.TriggerCancelledByPartner)}, []string{"null", "null"}},
	} {
		d := sample()
		for i, move := range c.moves {
			step, err := move(d)
			require.NoError(t, err, name)
			want := fmt.Sprintf(`,"version":%d,"capturedAmountCents":%s}`, d.Version, c.want[i])
			require.Equal(t, i+2, d.Version, name)
			require.Contains(t, string(d.EventData(step)), want, name)
		}
	}
}

func TestReference_IsUnambiguous(t *testing.T) {
	require.Regexp(t, `^D-[2-9A-HJKMNP-TV-Z]{4}-[2-9A-HJKMNP-TV-Z]{4}$`,
		deposit.NewReference([]byte{0, 29, 30, 255, 7, 8, 9, 10}))
}

func TestWrittenReference_OfATextThatWasHeard(t *testing.T) {
	for heard, want := range map[string]string{"d7k3m9q2x": "D-7K3M-9Q2X", "D-7K3M-9Q2X": "D-7K3M-9Q2X",
		"d 7k3m 9q2x": "D-7K3M-9Q2X"} {
		got, ok := deposit.ParseReference(heard)
		require.True(t, ok, heard)
		require.Equal(t, want, got)
	}
	for _, other := range []string{"", "7k3m9q2x", "e7k3m9q2x", "d7k3m9q2", "d7k3m9q2xx"} {
		got, ok := deposit.ParseReference(other)
		require.False(t, ok, other)
		require.Equal(t, other, got, "as it was")
	}
}

func TestFee(t *testing.T) {
	require.Equal(t, money.Cents(500), deposit.Fee(7_000))
	require.Equal(t, money.Cents(8_750), deposit.Fee(250_000))
}

func TestOutcome(t *testing.T) {
	cases := map[deposit.Trigger]deposit.CheckoutOutcome{
		deposit.TriggerSecured: deposit.OutcomeSecured, deposit.TriggerTenantDeclined: deposit.OutcomeDeclined,
		deposit.TriggerFeeFailed: deposit.OutcomeDeclined, deposit.TriggerTenantAbandoned: deposit.OutcomeAbandoned,
		deposit.TriggerCancelledByPartner: deposit.OutcomeAbandoned,
	}
	for trigger, want := range cases {
		d := sample()
		_, err := d.ApplyTrigger(trigger, deposit.DefaultTimerDurations(), start)
		require.NoError(t, err)
		require.Equal(t, want, d.CheckoutOutcome(), trigger)
	}
	for _, later := range []deposit.Status{deposit.Closed, deposit.Captured} {
		require.Equal(t, deposit.OutcomeSecured, (&deposit.Deposit{Status: later}).CheckoutOutcome(), later)
	}
}

func TestCaptureWords_AreThoseOfTheCapture(t *testing.T) {
	released := deposit.Transition{Trigger: deposit.TriggerReleased, Detail: map[string]string{"reason": "other"}}
	captured := deposit.Transition{Trigger: deposit.TriggerCaptureRequested,
		Detail: map[string]string{"reason": "damage", "description": "A broken window."}}
	for want, steps := range map[[2]string][]deposit.Transition{
		{}: {released}, {"damage", "A broken window."}: {captured, released},
	} {
		reason, words := deposit.CaptureDetails(steps)
		require.Equal(t, want, [2]string{reason, words})
	}
}

func TestReferenceBeginnings_OfATextThatMayBeOne(t *testing.T) {
	for heard, want := range map[string][]string{
		"vfk": {"D-VFK"}, "vfkb": {"D-VFKB"}, "vfkb2": {"D-VFKB-2"}, "VFKB-2E9H": {"D-VFKB-2E9H"}, "vfkb 2e": {"D-VFKB-2E"},
		"d-vfk": {"D-VFK"}, "D-VFKB-2E9H": {"D-VFKB-2E9H"}, "dvfk": {"D-DVFK", "D-VFK"}, "d vfk": {"D-DVFK", "D-VFK"},
		"dvfkb2e9h": {"D-VFKB-2E9H"}, "dvf": {"D-DVF"}, "d-vf": nil, "vf": nil, "": nil, "d": nil, "vfkb2e9hx": nil,
		"dvfkb2e9hx": nil, "vfk%": nil, "vfk_": nil, "väk": nil, "garcia lopez": nil,
		"a0z9": {"D-A0Z9"}, "ab/c": nil, "ab:c": nil, "ab@c": nil, "ab[c": nil,
	} {
		require.Equal(t, want, deposit.ReferencePrefixes(heard), heard)
	}
}

package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/webhook"
)

func TestRoute_TheMostSpecificSubscribedEvent(t *testing.T) {
	changed, activated, linked := webhook.EventDepositStatusChanged, webhook.EventDepositActivated,
		webhook.EventOperatorLinked
	cases := []struct {
		name       string
		subscribed []webhook.EventName
		specific   webhook.EventName
		want       webhook.EventName
		ok         bool
	}{
		{"both: the specific one", []webhook.EventName{changed, activated}, activated, activated, true},
		{"only the general one", []webhook.EventName{changed}, activated, changed, true},
		{"only another specific one", []webhook.EventName{webhook.EventDepositExpired}, activated, "", false},
		{"no specific one exists", []webhook.EventName{changed, activated}, changed, changed, true},
		{"specific alone hears no general", []webhook.EventName{activated}, changed, "", false},
		{"linked", []webhook.EventName{linked}, linked, linked, true},
		{"linked is no status change", []webhook.EventName{changed}, linked, "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := webhook.ChooseEventName(c.subscribed, c.specific)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func TestSign_AgreesWithAnIndependentImplementation(t *testing.T) {
	body := []byte(`{"event":"deposit.activated"}`)
	timestamp, signature := webhook.Sign("svc_whsec_x", body, time.Unix(1_790_000_000, 999))
	h := hmac.New(sha256.New, []byte("svc_whsec_x"))
	h.Write([]byte("1790000000." + string(body)))
	require.Equal(t, "1790000000", timestamp)
	require.Equal(t, "sha256="+hex.EncodeToString(h.Sum(nil)), signature)
}

func TestRender_IsJSONInTheOrderOfTheSpec(t *testing.T) {
	body := webhook.RenderBody(webhook.EventOperatorLinked, "2026-07-01T12:00:00.123Z",
		webhook.OperatorLinkedPayload{PartnerID: "prt_1", AccountID: "acct_1", ExternalID: `a"b`, LinkedAt: "x"}.JSON())
	require.True(t, json.Valid(body))
	require.Equal(t,
		`{"event":"rental_operator.linked","createdAt":"2026-07-01T12:00:00.123Z","data":{"partnerId":"prt_1","accountId":"acct_1","externalId":"a\"b","linkedAt":"x"}}`,
		string(body))
}

func TestSchedule_After(t *testing.T) {
	s := webhook.DefaultRetrySchedule
	total := time.Duration(0)
	for attempt := 1; attempt < len(s); attempt++ {
		wait, ok := s.WaitAfter(attempt, 0, 0.5)
		require.True(t, ok)
		require.Equal(t, s[attempt], wait)
		total += wait
	}
	require.InDelta(t, 69, total.Hours(), 0.5)
	_, ok := s.WaitAfter(len(s), 0, 0.5)
	require.False(t, ok, "11 attempts")
	rapid.Check(t, func(t *rapid.T) {
		attempt := rapid.IntRange(1, 10).Draw(t, "attempt")
		wait, _ := s.WaitAfter(attempt, 0, rapid.Float64Range(0, 0.9999).Draw(t, "random"))
		if low, high := s[attempt]*9/10, s[attempt]*11/10; wait < low || wait > high {
			t.Fatalf("%v is not within 10%% of %v", wait, s[attempt])
		}
	})
	wait, _ := s.WaitAfter(1, 90*time.Second, 0.5)
	require.Equal(t, 90*time.Second, wait, "Retry-After is a floor")
	wait, _ = s.WaitAfter(1, 9*time.Hour, 0.5)
	require.Equal(t, time.Hour, wait, "and capped")
	wait, _ = s.WaitAfter(7, time.Second, 0.5)
	require.Equal(t, 6*time.Hour, wait, "and never shortens the schedule")
}

func TestJudge(t *testing.T) {
	s := webhook.RetrySchedule{0, time.Second}
	failed := webhook.Attempt{Number: 1, Result: webhook.ResultNon2xx}
	require.Equal(t, webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting, Wait: time.Second},
		s.JudgeAttempt(failed, false, 0.5))
	require.Equal(t, webhook.DeliveryVerdict{State: webhook.DeliveryStateFailed}, s.JudgeAttempt(failed, true, 0.5),
		"a test is never tried again")
	failed.Number = 2
	require.Equal(t, webhook.DeliveryVerdict{State: webhook.DeliveryStateFailed}, s.JudgeAttempt(failed, false, 0.5))
	require.Equal(t, webhook.DeliveryVerdict{State: webhook.DeliveryStateSucceeded},
		s.JudgeAttempt(webhook.Attempt{Number: 9, Result: webhook.ResultSuccess}, false, 0.5))
}

func TestParseEvents(t *testing.T) {
	all, err := webhook.ParseEventNames(nil)
	require.NoError(t, err)
	require.Equal(t, webhook.EventNames, all)
	got, err := webhook.ParseEventNames([]string{"deposit.captured", "deposit.captured"})
	require.NoError(t, err)
	require.Equal(t, []webhook.EventName{webhook.EventDepositCaptured}, got)
	for _, bad := range [][]string{{}, {"deposit.refused"}, {""}} {
		_, err := webhook.ParseEventNames(bad)
		require.Equal(t, "invalid_field", fault.FromError(err).Code)
	}
}

func TestParseSignatures_OursCannotBeLeftOut(t *testing.T) {
	for _, c := range []struct {
		kinds    []string
		standard bool
		good     bool
	}{
		{nil, false, true}, {[]string{"svc", "svc"}, false, true}, {[]string{"standard", "svc"}, true, true},
		{[]string{}, false, false}, {[]string{"standard"}, false, false}, {[]string{"svc", "other"}, false, false},
	} {
		standard, err := webhook.ParseSignatureKinds(c.kinds)
		require.Equal(t, []bool{c.standard, c.good}, []bool{standard, err == nil}, "%v", c.kinds)
	}
	require.Equal(t, []webhook.SignatureKind{"svc"}, webhook.Subscription{}.SignatureKinds())
	require.Equal(t, []webhook.SignatureKind{"svc", "standard"}, webhook.Subscription{Standard: true}.SignatureKinds())
}

func TestParseTarget(t *testing.T) {
	for raw, want := range map[string][2]bool{ // accepted without and with insecure
		"https://a.example/hook?x=1": {true, true}, "http://a.example/hook": {false, true},
		"http://127.0.0.1:99/x":  {false, true},
		"https://u:p@a.example/": {false, false}, "http://u:p@a.example/": {false, false},
		"ftp://a.example/": {false, false}, "https://a.example/#f": {false, false}, "": {false, false}, "/x": {false, false},
	} {
		_, err := webhook.ParseTargetURL(raw, webhook.TargetRules{})
		require.Equal(t, want[0], err == nil, raw)
		u, err := webhook.ParseTargetURL(raw, webhook.TargetRules{Insecure: true})
		require.Equal(t, want[1], err == nil, raw)
		if err == nil {
			require.Equal(t, raw, u.String())
		}
	}
}

func TestParseTarget_RefusesPorts(t *testing.T) {
	blocked := []uint16{22, 6379}
	for port, want := range map[string][2]string{ // the port that the refusal names, without and with insecure
		"": {}, ":": {}, ":443": {}, ":8443": {}, ":65535": {}, ":1": {}, ":2222": {},
		":22": {"22", ""}, ":0022": {"22", ""}, ":6379": {"6379", ""},
		":0": {"0", "0"}, ":00": {"00", "00"}, ":65536": {"65536", "65536"}, ":4294967318": {"4294967318", "4294967318"},
	} {
		for i, insecure := range []bool{false, true} {
			_, err := webhook.ParseTargetURL("https://a.example"+port+"/",
				webhook.TargetRules{Insecure: insecure, BlockedPorts: blocked})
			if want[i] == "" {
				require.NoError(t, err, port)
				continue
			}
			require.ErrorIs(t, err, fault.ErrInvalidField, port)
			require.Contains(t, fault.FromError(err).Message, "url: has the port "+want[i]+",")
		}
	}
}

func TestHealth_TheWayDownAndBack(t *testing.T) {
	const limit = 64
	now := time.Unix(1_790_000_000, 0)
	fail := webhook.Attempt{Result: webhook.ResultNon2xx, Duration: time.Millisecond}
	ok := webhook.Attempt{Result: webhook.ResultSuccess, Duration: time.Millisecond}
	var h webhook.Health
	require.True(t, h.AfterAttempt(ok, limit, now).Flawless())
	for range 40 {
		h = h.AfterAttempt(fail, limit, now)
	}
	require.True(t, h.Slow)
	require.Equal(t, 8, h.ClaimLimit(limit, 512, now), "few")
	require.Equal(t, 1, h.ClaimLimit(4, 512, now))
	require.False(t, h.CircuitOpen(), "a burst of failures is not yet a habit")
	now = now.Add(5 * time.Second)
	h = h.AfterAttempt(fail, limit, now)
	require.True(t, h.CircuitOpen())
	require.Zero(t, h.ClaimLimit(limit, 512, now))
	straggler := h.AfterAttempt(fail, limit, now)
	straggler.Failures = h.Failures
	require.Equal(t, h, straggler, "a straggler tells nothing new")
	now = h.OpenUntil
	require.Equal(t, 1, h.ClaimLimit(limit, 512, now), "one probe")
	h = h.AfterAttempt(fail, limit, now)
	require.Equal(t, 2*time.Second, h.OpenUntil.Sub(now), "twice the wait")
	now = h.OpenUntil
	for _, room := range []int{1, 2, 4, 8, 16, 32} {
		h = h.AfterAttempt(ok, limit, now)
		require.Equal(t, room, h.ClaimLimit(limit, 512, now))
	}
	once := h.AfterAttempt(fail, limit, now)
	require.Equal(t, 16, once.ClaimLimit(limit, 512, now), "half as many")
	for range 4 {
		once = once.AfterAttempt(fail, limit, now)
	}
	require.Zero(t, once.ClaimLimit(limit, 512, now), "away again")
	h = h.AfterAttempt(ok, limit, now)
	require.Equal(t, 512, h.ClaimLimit(limit, 512, now))
	require.True(t, h.Flawless(), "%+v", h)
}

func TestHealth_ASlowSuccess_TakesTheSlowLane(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	slow := webhook.Attempt{Result: webhook.ResultSuccess, Duration: 3 * time.Second}
	h := webhook.Health{}.AfterAttempt(slow, 64, now)
	require.True(t, h.Slow)
	require.Equal(t, 64, h.ClaimLimit(64, 512, now))
	for range 5 {
		h = h.AfterAttempt(webhook.Attempt{Result: webhook.ResultSuccess}, 64, now)
	}
	require.True(t, h.Flawless())
}

func TestHealth_FiveDaysOfFailures_Disable(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	fail := webhook.Attempt{Result: webhook.ResultTimeout}
	h := webhook.Health{}.AfterAttempt(fail, 64, now)
	require.False(t, h.ShouldDisable(now.Add(webhook.DisableAfter-time.Second)))
	require.True(t, h.ShouldDisable(now.Add(webhook.DisableAfter)))
	h = h.AfterAttempt(webhook.Attempt{Result: webhook.ResultSuccess}, 64, now)
	require.False(t, h.ShouldDisable(now.Add(webhook.DisableAfter)))
}

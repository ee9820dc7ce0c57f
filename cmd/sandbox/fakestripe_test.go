package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

func TestFakeStripe_RunsOnlyWhereNothingLeadsToStripe(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]bool{
		"": false, "PAYMENTS_PROVIDER=sandbox": false, "PAYMENTS_PROVIDER=stripe": true,
		"PAYMENTS_PROVIDER=stripe STRIPE_API_BASE=":            true,
		"PAYMENTS_PROVIDER=stripe STRIPE_API_BASE=http://x":    false,
		"PAYMENTS_PROVIDER=stripe STRIPE_SECRET_KEY=sk_test_1": false,
		"PAYMENTS_PROVIDER=stripe PAYMENTS_PROVIDER=none":      false,
	} {
		require.Equal(t, want, wantsFakeStripe(strings.Fields(environ)), environ)
	}
}

func TestFakeStripe_AnswersUntilItIsStopped(t *testing.T) {
	t.Parallel()
	said := ""
	parts, settings, err := fakeStripe(t.Context(), []string{"PAYMENTS_PROVIDER=stripe"},
		&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}, func(format string, args ...any) {
			said = fmt.Sprintf(format, args...)
		})
	require.NoError(t, err)
	require.Len(t, parts, 1)
	base := strings.TrimPrefix(settings[1], "STRIPE_API_BASE=")
	require.Contains(t, said, base)
	require.NoError(t, parts[0].Start(t.Context(), func(err error) { t.Error(err) }))
	client := &http.Client{}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/refunds", http.NoBody)
	require.NoError(t, err)
	answer, err := client.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.JSONEq(t, `{"object":"list","data":[],"has_more":false}`, string(body))
	require.NoError(t, parts[0].Stop(t.Context()))
	_, err = client.Do(request)
	require.Error(t, err)
}

func TestFakeStripe_IsInNoProcessOfProduction(t *testing.T) {
	t.Parallel()
	out, err := procs.Command(t.Context(), "go", "list", "-deps", "partnerdeposits/cmd/http",
		"partnerdeposits/cmd/dispatcher", "partnerdeposits/cmd/admin").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "partnerdeposits/adapters/payments/stripe\n")
	require.NotContains(t, string(out), "stripetest")
}

package scoring_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/scoring"
	"partnerdeposits/ports"
)

func TestSandbox_RefusesTheLocalPartDeclinedAlone(t *testing.T) {
	t.Parallel()
	for email, want := range map[string]bool{
		"declined@example.com":     false,
		"Declined@example.org":     false,
		"not.declined@example.com": true,
		"declined+1@example.com":   true,
		"ada@declined.example":     true,
	} {
		got, err := scoring.Sandbox{}.Assess(context.Background(), ports.Applicant{Email: email})
		require.NoError(t, err)
		require.Equal(t, want, got, email)
	}
}

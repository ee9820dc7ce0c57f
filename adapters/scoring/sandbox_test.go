package scoring_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/scoring"
	depositports "partnerdeposits/ports/deposits"
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
		got, err := scoring.SandboxScorer{}.Assess(context.Background(), depositports.Applicant{Email: email})
		require.NoError(t, err)
		require.Equal(t, want, got, email)
	}
}

package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
)

func TestText_HoweverPrinted_IsHidden(t *testing.T) {
	s := secret.FromRandom("svc_cs_", bytes.Repeat([]byte{7}, secret.MinRandomBytes))
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "in", struct{ S secret.Text }{s})
	asJSON, err := json.Marshal(map[string]any{"s": s})
	require.NoError(t, err)
	all := fmt.Sprintf("%v %s %+v %#v %q", s, s, struct{ S secret.Text }{s}, s, s) + log.String() + string(asJSON)
	require.NotContains(t, all, s.Reveal())
	require.True(t, s.Equal(s.Reveal()))
	require.False(t, s.Equal(s.Reveal()+"x"))
}

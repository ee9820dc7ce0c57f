package mail

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	cases := map[string]Server{
		"smtp://mx":                    {Host: "mx", Port: 587, StartTLS: StartTLSAuto},
		"smtp://mx:25/?starttls=never": {Host: "mx", Port: 25, StartTLS: StartTLSNever},
		"smtp://[::1]:1025":            {Host: "::1", Port: 1025, StartTLS: StartTLSAuto},
		"smtp://user:p%40ss@mx": {Host: "mx", Port: 587, StartTLS: StartTLSAlways, User: "user",
			Password: "p@ss"},
		"smtp://user:pass@mx:2525?starttls=auto": {Host: "mx", Port: 2525, StartTLS: StartTLSAuto, User: "user",
			Password: "pass"},
		"smtps://user:pass@mx": {Host: "mx", Port: 465, TLS: true, StartTLS: StartTLSAlways, User: "user", Password: "pass"},
		"smtps://mx:2465":      {Host: "mx", Port: 2465, TLS: true, StartTLS: StartTLSAuto},
	}
	for raw, want := range cases {
		got, err := ParseURL(raw)
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", got, got, got), "pass@")
	}
}

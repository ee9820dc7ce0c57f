package connect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNetwork_FoldsIPv6AddressesOfOneSubscriber(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7",
		"::ffff:192.0.2.7":     "::ffff:192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::1":      "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
		"":                     "",
		"nonsense":             "nonsense",
	} {
		require.Equal(t, want, network(ip), ip)
	}
}

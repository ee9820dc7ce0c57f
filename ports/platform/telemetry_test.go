package platform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	ports "partnerdeposits/ports/platform"
)

func TestTraceIDOf_ATraceparent_GivesTheTrace(t *testing.T) {
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c",
		ports.TraceIDOf("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	for _, other := range []string{"", "00", "0af7651916cd43dd8448eb211c80319c", "00-a-b-c-d"} {
		require.Empty(t, ports.TraceIDOf(other), other)
	}
}

package platform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	ports "partnerdeposits/ports/platform"
)

func TestRecordedTraceOf_AsksTheFlags(t *testing.T) {
	const trace = "0af7651916cd43dd8448eb211c80319c"
	for flags, want := range map[string]string{"01": trace, "03": trace, "00": "", "02": "", "zz": "", "": ""} {
		require.Equal(t, want, ports.RecordedTraceIDOf("00-"+trace+"-b7ad6b7169203331-"+flags), flags)
	}
	require.Empty(t, ports.RecordedTraceIDOf(""))
	require.Empty(t, ports.RecordedTraceIDOf("01"))
}

func TestTraceIDOf_ATraceparent_GivesTheTrace(t *testing.T) {
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c",
		ports.TraceIDOf("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	for _, other := range []string{"", "00", "0af7651916cd43dd8448eb211c80319c", "00-a-b-c-d"} {
		require.Empty(t, ports.TraceIDOf(other), other)
	}
}

package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"partnerdeposits/process/config"
)

// samples tells whether a trace is recorded whose id stands in the middle of all ids, so that a share above a half has
// it. flags are those of a caller; nil: there is no caller.
func samples(t *testing.T, sampler, share string, flags *oteltrace.TraceFlags) bool {
	t.Helper()
	environ := []string{"OTEL_TRACES_SAMPLER=" + sampler, "OTEL_TRACES_SAMPLER_ARG=" + share}
	cfg, err := config.Load(environ, config.NothingRequired)
	require.NoError(t, err)
	id := oteltrace.TraceID{8: 0x80, 15: 1}
	p := trace.SamplingParameters{ParentContext: t.Context(), TraceID: id, Kind: oteltrace.SpanKindServer}
	if flags != nil {
		p.ParentContext = oteltrace.ContextWithRemoteSpanContext(t.Context(), oteltrace.NewSpanContext(
			oteltrace.SpanContextConfig{TraceID: id, SpanID: oteltrace.SpanID{1}, TraceFlags: *flags, Remote: true}))
	}
	return withoutPollsSampler{samplerOf(cfg)}.ShouldSample(p).Decision == trace.RecordAndSample
}

func TestSampler_OfEachName_DecidesByCallerOrShare(t *testing.T) {
	t.Parallel()
	yes, no := oteltrace.FlagsSampled, oteltrace.TraceFlags(0)
	type decided struct{ alone, callersYes, callersNo bool }
	for name, want := range map[string]decided{
		" ":                             {true, true, false}, // the default, as before there was a setting
		"parentbased_always_on ":        {true, true, false},
		"parentbased_always_off ":       {false, true, false},
		"always_on ":                    {true, true, true},
		"always_off ":                   {false, false, false},
		"traceidratio ":                 {true, true, true},
		"traceidratio 1":                {true, true, true},
		"traceidratio 0.51":             {true, true, true},
		"traceidratio 0.49":             {false, false, false},
		"traceidratio 0":                {false, false, false},
		"parentbased_traceidratio ":     {true, true, false},
		"parentbased_traceidratio 0.51": {true, true, false},
		"parentbased_traceidratio 0":    {false, true, false},
		"always_on 0":                   {true, true, true}, // the share is for others
	} {
		sampler, share, _ := strings.Cut(name, " ")
		require.Equal(t, want, decided{samples(t, sampler, share, nil), samples(t, sampler, share, &yes),
			samples(t, sampler, share, &no)}, name)
	}
	require.Len(t, config.TracesSamplers, 6)
}

func TestSampler_DropsPolls_WhateverItsName(t *testing.T) {
	t.Parallel()
	got := withoutPollsSampler{trace.AlwaysSample()}.ShouldSample(trace.SamplingParameters{ParentContext: t.Context(),
		Kind: oteltrace.SpanKindClient})
	require.Equal(t, trace.Drop, got.Decision)
}

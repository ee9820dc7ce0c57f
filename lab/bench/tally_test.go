package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"partnerdeposits/core/webhook"
)

const sink = "http://127.0.1.1:8"

// deliver hands a signed body to the receiver's handler.
func deliver(to *tally, body string, spoil ...func(*fasthttp.RequestHeader)) (status int) {
	var c fasthttp.RequestCtx
	c.Request.SetRequestURI(sink + "/")
	c.Request.SetBodyString(body)
	timestamp, signature := webhook.Sign(webhookSecret, []byte(body), time.Now())
	c.Request.Header.Set(webhook.HeaderTimestamp, timestamp)
	c.Request.Header.Set(webhook.HeaderSignature, signature)
	for _, s := range spoil {
		s(&c.Request.Header)
	}
	to.answer(&c)
	return c.Response.StatusCode()
}

func TestTally_WithoutAValidSignature_CountsAsInvalid(t *testing.T) {
	t.Parallel()
	taken := newTally()
	for _, spoil := range []func(*fasthttp.RequestHeader){
		func(h *fasthttp.RequestHeader) { h.Del(webhook.HeaderSignature) },
		func(h *fasthttp.RequestHeader) { h.Set(webhook.HeaderTimestamp, "1") },
		func(h *fasthttp.RequestHeader) { h.Set(webhook.HeaderSignature, "sha256=00") },
	} {
		require.Equal(t, 400, deliver(taken, `{}`, spoil))
	}

	require.Equal(t, counts{Invalid: 3}, taken.counts)
}

func TestTally_CountsEachBodyOnce_AndNotesItsFirstArrivalSinceTheLastCall(t *testing.T) {
	t.Parallel()
	taken := newTally()
	arrivals := func() (found map[string]time.Time) {
		var c fasthttp.RequestCtx
		c.Request.SetRequestURI(sink + "/arrivals")
		taken.answer(&c)
		require.NoError(t, json.Unmarshal(c.Response.Body(), &found))
		return found
	}
	require.Equal(t, 200, deliver(taken, `{"data":{"id":"dep_before"}}`))
	require.Empty(t, arrivals())
	deliver(taken, `{"data":{"id":"dep_1"}}`)
	first := time.Now()
	require.Equal(t, 200, deliver(taken, `{"data":{"id":"dep_1"}}`))

	found := arrivals()
	require.Len(t, found, 1)
	require.False(t, found["dep_1"].After(first))
	require.Empty(t, arrivals())
	require.Equal(t, counts{Taken: 2, Duplicates: 1}, taken.counts)
}

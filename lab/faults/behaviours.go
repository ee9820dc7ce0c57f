package main

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"

	"partnerdeposits/lab/receiver"
)

// behaviours maps a webhook receiver's behaviour to the percentage of copies that get it; the rest get 200.
type behaviours map[behaviour]int

// behaviour is how a webhook receiver answers a copy, such as 500.
type behaviour string

const (
	takes    behaviour = "takes"
	fails    behaviour = "500"
	later    behaviour = "503 with Retry-After"
	slow     behaviour = "200 after a while"
	hangs    behaviour = "no answer"
	trickles behaviour = "200, then a byte at a time"
	resets   behaviour = "connection reset"
	redirect behaviour = "302"
	huge     behaviour = "200 with an endless body"
	heads    behaviour = "endless headers"
)

var answers = map[behaviour]receiver.Responder{
	takes: receiver.RespondOK, fails: receiver.RespondStatus(http.StatusInternalServerError),
	later:    receiver.RespondStatus(http.StatusServiceUnavailable, "Retry-After", "1"),
	redirect: receiver.RespondStatus(http.StatusFound, "Location", elsewhere),
	slow:     receiver.RespondAfter(300*ms, receiver.RespondOK),
	hangs:    receiver.LeaveUnanswered, trickles: receiver.RespondTrickle, resets: receiver.RespondConnectionReset,
	huge:  receiver.RespondEndlessBody,
	heads: receiver.RespondEndlessHeaders,
}

var (
	polite  = behaviours{fails: 2}
	moody   = behaviours{fails: 8, later: 2, slow: 2}
	hostile = behaviours{fails: 8, later: 2, slow: 4, hangs: 3, trickles: 5, resets: 8, redirect: 5, huge: 5, heads: 3}
)

func (m behaviours) choose(dice *rand.Rand) behaviour {
	const percent = 100
	at := dice.IntN(percent)
	for _, way := range slices.Sorted(maps.Keys(m)) {
		if at -= m[way]; at < 0 {
			return way
		}
	}
	return takes
}

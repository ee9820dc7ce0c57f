package main

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"

	"partnerdeposits/lab/receiver"
)

// behaviours maps a behaviour of a webhook receiver to the percentage of copies that get it. The remaining copies
// get a plain 200.
type behaviours map[behaviour]int

// behaviour is a way in which a webhook receiver answers a copy, such as 500 or no answer.
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
	// The behaviours are sorted, so that a seed of random numbers repeats its choices.
	for _, way := range slices.Sorted(maps.Keys(m)) {
		if at -= m[way]; at < 0 {
			return way
		}
	}
	return takes
}

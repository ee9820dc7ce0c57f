package main

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"time"

	"partnerdeposits/lab/hostiletest"
	"partnerdeposits/lab/mailbox"
)

// postOffice is the mail server of the services. It refuses some attempts, delays others, and keeps each mail that it
// took.
type postOffice struct {
	*mailbox.Server
	seed uint64

	mu       sync.Mutex
	override reception
	tries    map[string]uint64    // attempts, by recipient
	ways     map[string]reception // of the attempt under way, by recipient
}

// reception is the server's way with an attempt.
type reception int

const (
	byDice             reception = iota // in place of an override: the seed decides
	takesMail                           // 250
	takesLate                           // 250 after a while
	refusesTo                           // 450 to the recipient
	refusesText                         // 451 to the text
	hangsUpLate                         // closes the connection behind the text, and keeps nothing
	hangsUp                             // closes the connection at once
	refusesConnections                  // 421 to the connection
)

// receptions tell at which step a reception refuses, and how. Of a hundred attempts that the seed decides, share have
// this reception, and the others are taken.
var receptions = []struct {
	way          reception
	step, answer string
	share        int
}{
	{refusesTo, "RCPT", "450 4.2.1 try again", 6},
	{refusesText, mailbox.Text, "451 4.7.1 try again", 6},
	{hangsUpLate, mailbox.Text, mailbox.Cut, 6},
	{takesLate, "", "", 22},
	{hangsUp, mailbox.Greeting, mailbox.Cut, 0},
	{refusesConnections, mailbox.Greeting, "421 not now", 0},
}

const mailDomain = "faults.test"

func newPostOffice(t hostiletest.TB, seed uint64) *postOffice {
	p := &postOffice{seed: seed, tries: map[string]uint64{}, ways: map[string]reception{}}
	p.Server = mailbox.Listen(t, p.refuse)
	return p
}

func (p *postOffice) setOverride(r reception) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.override = r
}

func (p *postOffice) refuse(step, recipient string) (answer string, refused bool) {
	way := p.way(step, recipient)
	if way == takesLate && step == mailbox.Text {
		_ = pause(context.Background(), 200*time.Millisecond)
	}
	for _, r := range receptions {
		if r.way == way && r.step == step {
			return r.answer, true
		}
	}
	return "", false
}

// way chooses the reception of an attempt: at its greeting by the override alone, and then when its recipient is told.
func (p *postOffice) way(step, recipient string) reception {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch step {
	case mailbox.Greeting:
		return p.override
	case "RCPT":
		p.tries[recipient]++
		p.ways[recipient] = p.override
		if p.override != byDice {
			break
		}
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(recipient))
		dice := rand.New(rand.NewPCG(p.seed^hash.Sum64(), p.tries[recipient])) //nolint:gosec // repeatable on purpose
		n := dice.IntN(100)
		p.ways[recipient] = takesMail
		for _, r := range receptions {
			if n -= r.share; n < 0 {
				p.ways[recipient] = r.way
				break
			}
		}
	}
	return p.ways[recipient]
}

var linkIn = regexp.MustCompile(`/checkout/([A-Za-z0-9_-]+)`)

// copied is a copy of a mail that the server answered with 250.
type copied struct {
	at        time.Time
	sender    string // the process, by the local part of the envelope's sender
	recipient string
	token     string // of the checkout that the link in the text leads to
}

// copies are the copies of every mail, by the part of the Message-ID before the @.
func (p *postOffice) copies() (taken map[string][]copied, refused int) {
	mails, refused := p.Mails()
	taken = map[string][]copied{}
	for _, m := range mails {
		sender, _, _ := strings.Cut(m.Sender, "@")
		c := copied{at: m.At, sender: sender, recipient: m.Recipient}
		if found := linkIn.FindStringSubmatch(m.Text); found != nil {
			c.token = found[1]
		}
		messageID, _, _ := strings.Cut(m.ID, "@")
		taken[messageID] = append(taken[messageID], c)
	}
	return taken, refused
}

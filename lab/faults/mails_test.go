package main

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/mail"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

var (
	firstTaken = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	aTenant    = mailTo{deposit: id.ID{1}, recipient: "tenant-8@faults.test"}
	anID       = id.ID{2}
)

// judged is a mail that was answered with 202, stored, and sent once, with changes.
func judged(change func(requested map[mailTo]string, rows *[]mailRow, taken map[string][]copied, deaths *[]death)) (
	t counts, violations []string) {
	messageID, hash := id.Message.Of(anID), sha256.Sum256([]byte("token"))
	requested := map[mailTo]string{aTenant: messageID}
	rows := []mailRow{{ID: anID, Deposit: aTenant.deposit, Recipient: aTenant.recipient, Sent: true, TokenHash: hash[:]}}
	taken := map[string][]copied{messageID: {{firstTaken, "dispatcher-1", aTenant.recipient, "token"}}}
	var deaths []death
	change(requested, &rows, taken, &deaths)
	t = judgeMails(requested, rows, taken, deaths, func(kind, format string, args ...any) {
		violations = append(violations, kind+": "+fmt.Sprintf(format, args...))
	})
	return t, violations
}

func TestMails_SentOnce_AreFine(t *testing.T) {
	t.Parallel()
	tally, violations := judged(func(map[mailTo]string, *[]mailRow, map[string][]copied, *[]death) {})
	require.Empty(t, violations)
	require.Equal(t, counts{answeredMails: 1}, tally)
	tally, violations = judged(func(requested map[mailTo]string, _ *[]mailRow, _ map[string][]copied, _ *[]death) {
		requested[aTenant] = ""
	})
	require.Empty(t, violations, "the answer got lost")
	require.Equal(t, counts{unknownMails: 1}, tally)
}

func TestMails_WhatMustNotBe_IsFound(t *testing.T) {
	t.Parallel()
	messageID := id.Message.Of(anID)
	for name, c := range map[string]struct {
		want   string
		change func(requested map[mailTo]string, rows *[]mailRow, taken map[string][]copied, deaths *[]death)
	}{
		"answered and not stored": {"has no row",
			func(_ map[mailTo]string, rows *[]mailRow, taken map[string][]copied, _ *[]death) {
				*rows = nil
				clear(taken)
			}},
		"sent and not stored": {"was sent and has no row",
			func(requested map[mailTo]string, rows *[]mailRow, _ map[string][]copied, _ *[]death) {
				*rows = nil
				clear(requested)
			}},
		"stored twice": {"is stored twice",
			func(_ map[mailTo]string, rows *[]mailRow, taken map[string][]copied, _ *[]death) {
				again := (*rows)[0]
				again.ID = id.ID{3}
				*rows = append(*rows, again)
				taken[id.Message.Of(again.ID)] = taken[messageID]
			}},
		"stored under another id": {"was answered, and",
			func(requested map[mailTo]string, _ *[]mailRow, _ map[string][]copied, _ *[]death) {
				requested[aTenant] = "msg_x"
			}},
		"never asked for": {"nobody asked",
			func(requested map[mailTo]string, _ *[]mailRow, _ map[string][]copied, _ *[]death) { clear(requested) }},
		"recorded and never sent": {"never took it",
			func(_ map[mailTo]string, _ *[]mailRow, taken map[string][]copied, _ *[]death) { clear(taken) }},
		"given up": {"given up", func(_ map[mailTo]string, rows *[]mailRow, _ map[string][]copied, _ *[]death) {
			(*rows)[0].Sent, (*rows)[0].Failed = false, true
		}},
		"not sent in the end": {"still waits",
			func(_ map[mailTo]string, rows *[]mailRow, _ map[string][]copied, _ *[]death) { (*rows)[0].Sent = false }},
		"a link elsewhere": {"not the deposit's",
			func(_ map[mailTo]string, _ *[]mailRow, taken map[string][]copied, _ *[]death) {
				taken[messageID][0].token = "another"
			}},
		"another address": {"another address",
			func(_ map[mailTo]string, _ *[]mailRow, taken map[string][]copied, _ *[]death) {
				taken[messageID][0].recipient = "x@faults.test"
			}},
	} {
		_, violations := judged(c.change)
		require.NotEmpty(t, violations, name)
		require.Contains(t, violations[0], c.want, name)
	}
}

// A second copy needs the death of the first copy's sender, between the 250 and the record, and before the second copy.
func TestMails_SentTwice_NeedAReason(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return firstTaken.Add(time.Duration(seconds) * time.Second) }
	unrecorded := []id.ID{anID}
	for name, c := range map[string]struct {
		deaths []death
		fine   bool
	}{
		"no death":                       {nil, false},
		"the sender's":                   {[]death{{at(1), "dispatcher-1", unrecorded}}, true},
		"the sender's, noted just after": {[]death{{at(-1), "dispatcher-1", unrecorded}}, true},
		"another process's":              {[]death{{at(1), "dispatcher-2", unrecorded}}, false},
		"long before the copy":           {[]death{{at(-6), "dispatcher-1", unrecorded}}, false},
		"after the second copy":          {[]death{{at(301), "dispatcher-1", unrecorded}}, false},
		"with the mail recorded":         {[]death{{at(1), "dispatcher-1", []id.ID{{9}}}}, false},
	} {
		tally, violations := judged(func(_ map[mailTo]string, _ *[]mailRow, taken map[string][]copied, deaths *[]death) {
			*deaths = c.deaths
			second := taken[id.Message.Of(anID)][0]
			second.at, second.sender = at(300), "dispatcher-2"
			taken[id.Message.Of(anID)] = append(taken[id.Message.Of(anID)], second)
		})
		require.Equal(t, 1, tally[secondCopies])
		require.Equal(t, c.fine, len(violations) == 0, "%s: %v", name, violations)
	}
}

// The mail server takes mails of the service's own mailer, refuses them, and keeps those that it took.
func TestPostOffice_TakesAndRefuses(t *testing.T) {
	t.Parallel()
	p := newPostOffice(t, 1)
	mailer, err := mail.New("smtp://"+p.Address, "dispatcher-1@"+mailDomain, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	m := ports.Mail{ID: anID, To: aTenant.recipient, Subject: "s",
		Body: "pay at https://d.example/checkout/a-token_1\n.\n", HTML: "<p>x</p>", CreatedAt: firstTaken}
	for r, taken := range map[reception]bool{takesMail: true, takesLate: true, refusesTo: false, refusesText: false,
		hangsUpLate: false, hangsUp: false, refusesConnections: false} {
		p.setOverride(r)
		before, refused := p.copies()
		err := mailer.Send(t.Context(), m)
		after, refusedNow := p.copies()
		require.Equal(t, taken, err == nil, "%d: %v", r, err)
		require.Equal(t, taken, len(after[id.Message.Of(anID)]) == len(before[id.Message.Of(anID)])+1)
		require.Equal(t, taken, refusedNow == refused)
	}
	copies, _ := p.copies()
	for _, c := range copies[id.Message.Of(anID)] {
		require.Equal(t, []string{"dispatcher-1", aTenant.recipient, "a-token_1"}, []string{c.sender, c.recipient, c.token})
	}
	p.setOverride(byDice)
	seen := map[reception]int{}
	for n := range 2000 {
		seen[p.way("RCPT", fmt.Sprint(n))]++
	}
	require.Len(t, seen, 5, "%v", seen)
	require.Greater(t, seen[takesMail], 1000)
}

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// mailTo names a mail with the link of a deposit as its request does. The load asks for each once, under an idempotency
// key.
type mailTo struct {
	deposit   id.ID
	recipient string
}

// mailRow is a row of mails.
type mailRow struct {
	ID           id.ID
	Deposit      id.ID
	Recipient    string
	Sent, Failed bool
	TokenHash    []byte // of the deposit's checkout
}

// death is the end of a dispatcher by SIGKILL, with the mails that were claimed and not recorded then.
type death struct {
	at         time.Time
	sender     string
	unrecorded []id.ID
}

// mailLog is the log of the requested mails.
type mailLog struct {
	mu        sync.Mutex
	on        bool              // the load asks for mails
	requested map[mailTo]string // the messageId of the answer; "": no answer yet, or none
	deaths    []death
}

// What the audit counts of mails.
const (
	answeredMails = "accepted" // of requests that were answered with 202
	unknownMails  = "of unknown outcome"
	unsentMails   = "never sent"
	secondCopies  = "sent again" // after a kill between 250 and record
)

// mailEvery is the share of the load's deposits whose link is mailed: one of so many.
const mailEvery = 8

// mail asks for the link of some deposits, to one address or, in a batch, to two. ok is false when the load ends first.
func (l *load) mail(c change) (ok bool) {
	log := &l.suite.mailLog
	if !log.on || c.number%mailEvery != 0 {
		return true
	}
	addresses := []string{fmt.Sprintf("tenant-%d@%s", c.number, mailDomain)}
	path, body := "/send-link", `{"email":"`+addresses[0]+`"}`
	if c.number%(2*mailEvery) == 0 {
		addresses = append(addresses, fmt.Sprintf("second-%d@%s", c.number, mailDomain))
		path += "/batch"
		body = fmt.Sprintf(`{"recipients":[{"email":%q},{"email":%q,"locale":"fr"}]}`, addresses[0], addresses[1])
	}
	log.note(c.deposit, addresses, nil)
	const step = 7 // of the idempotency keys of a deposit
	a, ok := l.insist(c, "/deposits/"+id.Deposit.Of(c.deposit)+path, l.key(c.number, step), body)
	if a.OK() {
		log.note(c.deposit, addresses, messageIDs(a))
	}
	return ok
}

// note keeps the messageIds of a request's answer, in the order of its addresses; nil before the answer.
func (l *mailLog) note(depositID id.ID, addresses, messageIDs []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, address := range addresses {
		l.requested[mailTo{depositID, address}] = ""
		if i < len(messageIDs) {
			l.requested[mailTo{depositID, address}] = messageIDs[i]
		}
	}
}

var messageIDIn = regexp.MustCompile(`"messageId":\s*"([^"]*)"`)

// messageIDs are those of the answer to send-link or its batch.
func messageIDs(a world.Answer) (all []string) {
	for _, found := range messageIDIn.FindAllSubmatch(a.Body, -1) {
		all = append(all, string(found[1]))
	}
	return all
}

// noteDeath keeps the mails that a dead dispatcher may have sent without a record. A process that lives, or is frozen
// for less than the lease of its mails, is no reason for a second copy.
func (w *suite) noteDeath(ctx context.Context, n *node) error {
	if n == nil || n.http || !w.mailLog.on || n.Process().Running() {
		return nil
	}
	d := death{at: time.Now(), sender: n.sender()}
	var err error
	d.unrecorded, err = query(ctx, w, pgx.RowTo[id.ID],
		`SELECT id FROM mails WHERE attempts > 0 AND sent_at IS NULL AND failed_at IS NULL`)
	w.mailLog.mu.Lock()
	defer w.mailLog.mu.Unlock()
	w.mailLog.deaths = append(w.mailLog.deaths, d)
	return err
}

// leap passes over the waits of mails: those after a refusal, and the leases of dead dispatchers. No dispatcher runs
// meanwhile, so no mail is under way.
func (w *suite) leap(ctx context.Context) error {
	return errors.Join(
		each(ctx, w.dispatchers, (*node).stop),
		w.exec(ctx, `UPDATE mails SET due_at = now() WHERE sent_at IS NULL AND failed_at IS NULL`),
		each(ctx, w.dispatchers, (*node).begin),
	)
}

// finishMails waits until every mail is sent. The server takes all from now on.
func (w *suite) finishMails(ctx context.Context) error {
	if !w.mailLog.on {
		return nil
	}
	w.post.setOverride(takesMail)
	if err := w.leap(ctx); err != nil {
		return err
	}
	// the audit names the mails
	return w.awaitNone(ctx, `SELECT count(*) FROM mails WHERE sent_at IS NULL AND failed_at IS NULL`)
}

// mails compares the answers of the API, the rows, and the mails that the server took.
func (a *audit) mails(ctx context.Context) error {
	if !a.mailLog.on {
		return nil
	}
	rows, err := query(ctx, a.suite, pgx.RowToStructByPos[mailRow], `
		SELECT m.id, m.link_of, m.recipient, m.sent_at IS NOT NULL, m.failed_at IS NOT NULL, d.checkout_token_hash
		FROM mails m JOIN deposits d ON d.id = m.link_of`)
	if err != nil {
		return err
	}
	taken, refused := a.post.copies()
	a.mailLog.mu.Lock()
	defer a.mailLog.mu.Unlock()
	a.result.mails = judgeMails(a.mailLog.requested, rows, taken, a.mailLog.deaths, a.receipts.violate)
	a.result.mails["attempts refused"] = refused
	return nil
}

// judgeMails holds the mails against the rules of docs/guides/faults.md.
func judgeMails(
	requested map[mailTo]string, rows []mailRow, taken map[string][]copied, deaths []death, violate violates,
) counts {
	found, stored := counts{}, map[mailTo]bool{}
	for _, m := range rows {
		messageID, to := id.Message.Of(m.ID), mailTo{m.Deposit, m.Recipient}
		answered, known := requested[to]
		switch {
		case stored[to]:
			violate("mail", "%s of %s is stored twice", messageID, m.Recipient)
		case !known:
			violate("mail", "nobody asked for %s to %s", messageID, m.Recipient)
		case answered == "":
			found[unknownMails]++
		case answered != messageID:
			violate("mail", "%s was answered, and %s is stored for %s", answered, messageID, m.Recipient)
		default:
			found[answeredMails]++
		}
		stored[to] = true
		found.copiesOf(m, taken[messageID], deaths, violate)
		delete(taken, messageID)
	}
	for to, messageID := range requested {
		if messageID != "" && !stored[to] {
			violate("mail", "%s to %s was answered 202 and has no row", messageID, to.recipient)
		}
	}
	for messageID, copies := range taken {
		if copies[0].token != "" { // mails of other kinds have no link
			violate("mail", "%s was sent and has no row", messageID)
		}
	}
	return found
}

// copiesOf judges the copies of a mail.
func (c counts) copiesOf(m mailRow, copies []copied, deaths []death, violate violates) {
	messageID := id.Message.Of(m.ID)
	switch {
	case len(copies) == 0 && m.Sent:
		violate("mail lost", "%s is said to be sent, and the server never took it", messageID)
	case m.Failed:
		violate("mail lost", "%s was given up", messageID)
	case !m.Sent:
		violate("mail lost", "%s still waits", messageID)
	}
	if len(copies) == 0 {
		c[unsentMails]++
	}
	for n, one := range copies {
		hash := sha256.Sum256([]byte(one.token))
		if one.recipient != m.Recipient || !bytes.Equal(hash[:], m.TokenHash) {
			violate("mail", "%s went to %s with a link that is not the deposit's, or to another address than %s",
				messageID, one.recipient, m.Recipient)
		}
		if n == len(copies)-1 {
			break
		}
		c[secondCopies]++
		// the sender died between the server's 250 and its record
		explained := slices.ContainsFunc(deaths, func(d death) bool {
			return d.sender == one.sender && slices.Contains(d.unrecorded, m.ID) &&
				one.at.Before(d.at.Add(inTransit)) && d.at.Before(copies[n+1].at)
		})
		if !explained {
			violate("mail twice",
				"%s was taken at %s and at %s, and %s was not killed between the first 250 and its record",
				messageID, one.at.Format("15:04:05.000"), copies[n+1].at.Format("15:04:05.000"), one.sender)
		}
	}
}

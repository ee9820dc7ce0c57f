package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
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
	mailTo
	id           id.ID
	sent, failed bool
	tokenHash    []byte // of the deposit's checkout
}

// death is the end of a dispatcher by SIGKILL, with the mails that were claimed and not recorded then.
type death struct {
	at         time.Time
	sender     string
	unrecorded map[id.ID]bool
}

// mailLog is the log of the requested mails.
type mailLog struct {
	mu        sync.Mutex
	on        bool              // the load asks for mails
	requested map[mailTo]string // the messageId of the answer; "": no answer yet, or none
	deaths    []death
}

// mailTally is the result of the audit of mails.
type mailTally struct {
	accepted  int // mails of requests that were answered with 202
	unknown   int // mails of requests without an answer
	again     int // second copies after a death
	refused   int // attempts that the server refused
	notDone   int // mails without a copy
	explained int // deaths with a mail between the server's 250 and the record
}

func (t mailTally) String() string {
	return fmt.Sprintf("%d accepted, %d of unknown outcome; %d never sent, "+
		"%d sent again after %d kills between 250 and record; %d attempts refused",
		t.accepted, t.unknown, t.notDone, t.again, t.explained, t.refused)
}

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
	a, ok := l.insist(c, "/deposits/"+id.Deposit.Of(c.deposit)+path, uuidOf(l.suite.o.seed, c.number, step), body)
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
		messageID := ""
		if i < len(messageIDs) {
			messageID = messageIDs[i]
		}
		l.requested[mailTo{depositID, address}] = messageID
	}
}

// messageIDs are those of the answer to send-link or its batch.
func messageIDs(a world.Answer) (all []string) {
	type queued struct{ MessageID string }
	var one queued
	var many []queued
	if a.Into(&one) == nil {
		return []string{one.MessageID}
	}
	_ = a.Into(&many) // the audit misses the ids
	for _, q := range many {
		all = append(all, q.MessageID)
	}
	return all
}

// noteDeath keeps the mails that a dead dispatcher may have sent without a record. A process that lives, or is frozen
// for less than the lease of its mails, is no reason for a second copy.
func (w *suite) noteDeath(ctx context.Context, n *node) error {
	if n == nil || n.http || !w.mailLog.on || n.Process().Running() {
		return nil
	}
	d := death{at: time.Now(), sender: strings.ReplaceAll(n.Name, " ", "-"), unrecorded: map[id.ID]bool{}}
	open, err := query(ctx, w, pgx.RowTo[id.ID],
		`SELECT id FROM mails WHERE attempts > 0 AND sent_at IS NULL AND failed_at IS NULL`)
	for _, mailID := range open {
		d.unrecorded[mailID] = true
	}
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
	w := a.w
	if !w.mailLog.on {
		return nil
	}
	rows, err := query(ctx, w, func(row pgx.CollectableRow) (m mailRow, err error) {
		err = row.Scan(&m.id, &m.deposit, &m.recipient, &m.sent, &m.failed, &m.tokenHash)
		return m, err
	}, `SELECT m.id, m.link_of, m.recipient, m.sent_at IS NOT NULL, m.failed_at IS NOT NULL, d.checkout_token_hash
		FROM mails m JOIN deposits d ON d.id = m.link_of`)
	if err != nil {
		return err
	}
	taken, refused := w.post.copies()
	w.mailLog.mu.Lock()
	defer w.mailLog.mu.Unlock()
	a.result.mails = judgeMails(w.mailLog.requested, rows, taken, w.mailLog.deaths, w.receipts.violate)
	a.result.mails.refused = refused
	return nil
}

// judgeMails holds the mails against the rules of docs/guides/faults.md.
func judgeMails(
	requested map[mailTo]string, rows []mailRow, taken map[string][]copied, deaths []death, violate violates,
) (t mailTally) {
	stored := map[mailTo]bool{}
	for _, m := range rows {
		messageID := id.Message.Of(m.id)
		answered, known := requested[m.mailTo]
		switch {
		case stored[m.mailTo]:
			violate("mail", "%s of %s is stored twice", messageID, m.recipient)
		case !known:
			violate("mail", "nobody asked for %s to %s", messageID, m.recipient)
		case answered == "":
			t.unknown++
		case answered != messageID:
			violate("mail", "%s was answered, and %s is stored for %s", answered, messageID, m.recipient)
		default:
			t.accepted++
		}
		stored[m.mailTo] = true
		t.copiesOf(m, taken[messageID], deaths, violate)
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
	return t
}

// copiesOf judges the copies of a mail.
func (t *mailTally) copiesOf(
	m mailRow, copies []copied, deaths []death, violate violates,
) {
	messageID := id.Message.Of(m.id)
	switch {
	case len(copies) == 0 && m.sent:
		violate("mail lost", "%s is said to be sent, and the server never took it", messageID)
	case m.failed:
		violate("mail lost", "%s was given up", messageID)
	case !m.sent:
		violate("mail lost", "%s still waits", messageID)
	}
	if len(copies) == 0 {
		t.notDone++
	}
	for n, c := range copies {
		hash := sha256.Sum256([]byte(c.token))
		if c.recipient != m.recipient || !bytes.Equal(hash[:], m.tokenHash) {
			violate("mail", "%s went to %s with a link that is not the deposit's, or to another address than %s",
				messageID, c.recipient, m.recipient)
		}
		if n == len(copies)-1 {
			break
		}
		t.again++
		if !explained(m.id, c, copies[n+1], deaths) {
			violate("mail twice",
				"%s was taken at %s and at %s, and %s was not killed between the first 250 and its record",
				messageID, c.at.Format("15:04:05.000"), copies[n+1].at.Format("15:04:05.000"), c.sender)
			continue
		}
		t.explained++
	}
}

// explained tells whether the sender of a copy died between the server's 250 and its record.
func explained(mailID id.ID, c, next copied, deaths []death) bool {
	for _, d := range deaths {
		if d.sender == c.sender && d.unrecorded[mailID] && c.at.Before(d.at.Add(inTransit)) && d.at.Before(next.at) {
			return true
		}
	}
	return false
}

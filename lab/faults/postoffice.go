package main

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net"
	netmail "net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"sync"
	"time"
)

// postOffice is the mail server of the services. It refuses some attempts, delays others, and keeps each mail that it took.
type postOffice struct {
	seed     uint64
	listener net.Listener
	group    sync.WaitGroup

	mu       sync.Mutex
	open     map[net.Conn]bool
	override reception
	tries    map[string]uint64 // attempts, by recipient
	taken    map[string][]copied
	refused  int
}

// copied is a copy of a mail that the server answered with 250.
type copied struct {
	at        time.Time
	sender    string // the process, by the local part of the envelope's sender
	recipient string
	token     string // of the checkout that the link in the text leads to
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

const mailDomain = "faults.test"

func newPostOffice(seed uint64) (*postOffice, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by close
	if err != nil {
		return nil, err
	}
	p := &postOffice{seed: seed, listener: listener, open: map[net.Conn]bool{}, tries: map[string]uint64{}, taken: map[string][]copied{}}
	p.group.Go(p.serve)
	return p, nil
}

// environment are the settings of a process that sends its mails to p.
func (p *postOffice) environment(process string) []string {
	return []string{"SMTP_URL=smtp://" + p.listener.Addr().String(), "MAIL_FROM=" + strings.ReplaceAll(process, " ", "-") + "@" + mailDomain}
}

func (p *postOffice) setOverride(r reception) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.override = r
}

func (p *postOffice) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.open[c] = true
		p.mu.Unlock()
		p.group.Go(func() {
			_ = p.talk(c) // the sender sees a broken connection
			_ = c.Close()
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.open, c)
		})
	}
}

func (p *postOffice) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.group.Wait()
}

// way chooses the reception of the next attempt to send to a recipient.
func (p *postOffice) way(recipient string) reception {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries[recipient]++
	if p.override != byDice {
		return p.override
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(recipient))
	dice := rand.New(rand.NewPCG(p.seed^hash.Sum64(), p.tries[recipient])) //nolint:gosec // repeatable on purpose
	const percent = 100
	switch n := dice.IntN(percent); {
	case n < 6:
		return refusesTo
	case n < 12:
		return refusesText
	case n < 18:
		return hangsUpLate
	case n < 40:
		return takesLate
	}
	return takesMail
}

func (p *postOffice) refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused++
}

// session is a connection in which one mail at a time is told.
type session struct {
	*textproto.Conn
	post              *postOffice
	sender, recipient string
	way               reception
}

var errHungUp = errors.New("the server hung up")

func (p *postOffice) talk(c net.Conn) error {
	p.mu.Lock()
	greeting := p.override
	p.mu.Unlock()
	s := &session{Conn: textproto.NewConn(c), post: p}
	switch greeting {
	case hangsUp:
		p.refuse()
		return errHungUp
	case refusesConnections:
		p.refuse()
		return s.say("421 not now")
	}
	if err := s.say("220 " + mailDomain); err != nil {
		return err
	}
	for {
		line, err := s.ReadLine()
		if err != nil {
			return err
		}
		if done, err := s.answer(line); done || err != nil {
			return err
		}
	}
}

func (s *session) say(line string) error { return s.PrintfLine("%s", line) }

var addressOf = regexp.MustCompile(`<([^>]*)>`)

func (s *session) answer(line string) (done bool, err error) {
	verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
	var address string
	if m := addressOf.FindStringSubmatch(line); m != nil {
		address = m[1]
	}
	switch verb {
	case "MAIL":
		s.sender, _, _ = strings.Cut(address, "@")
		return false, s.say("250 ok")
	case "RCPT":
		s.recipient, s.way = address, s.post.way(address)
		if s.way == refusesTo {
			s.post.refuse()
			return false, s.say("450 4.2.1 try again")
		}
		return false, s.say("250 ok")
	case "DATA":
		return false, s.text()
	case "QUIT":
		return true, s.say("221 bye")
	}
	return false, s.say("250 ok") // EHLO, HELO, NOOP, RSET
}

// text reads a mail and answers in the chosen way. A mail counts as taken once the answer is written.
func (s *session) text() error {
	if err := s.say("354 go on"); err != nil {
		return err
	}
	body := s.DotReader()
	messageID, token, err := readMail(body)
	_, rest := io.Copy(io.Discard, body)
	if err = errors.Join(err, rest); err != nil {
		return err
	}
	switch s.way {
	case refusesText:
		s.post.refuse()
		return s.say("451 4.7.1 try again")
	case hangsUpLate:
		s.post.refuse()
		return errHungUp
	case takesLate:
		_ = pause(context.Background(), 200*time.Millisecond)
	}
	s.post.mu.Lock()
	defer s.post.mu.Unlock()
	if err := s.say("250 taken"); err != nil {
		return err
	}
	s.post.taken[messageID] = append(s.post.taken[messageID], copied{time.Now(), s.sender, s.recipient, token})
	return nil
}

var linkIn = regexp.MustCompile(`/checkout/([A-Za-z0-9_-]+)`)

// readMail gives the part of the Message-ID before the @, and the token in the link of the first text.
func readMail(r io.Reader) (messageID, token string, err error) {
	m, err := netmail.ReadMessage(r)
	if err != nil {
		return "", "", err
	}
	messageID, _, _ = strings.Cut(strings.Trim(m.Header.Get("Message-ID"), "<>"), "@")
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return messageID, "", err // another mail, without a link
	}
	part, err := multipart.NewReader(m.Body, params["boundary"]).NextPart() // decodes quoted-printable
	if err != nil {
		return messageID, "", err
	}
	text, err := io.ReadAll(part)
	if found := linkIn.FindSubmatch(text); found != nil {
		token = string(found[1])
	}
	return messageID, token, err
}

// copies are the copies of every mail, by the part of the Message-ID before the @.
func (p *postOffice) copies() (taken map[string][]copied, refused int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken = make(map[string][]copied, len(p.taken))
	for messageID, all := range p.taken {
		taken[messageID] = append([]copied(nil), all...)
	}
	return taken, p.refused
}

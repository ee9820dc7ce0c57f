// Package mailbox is a mail server that keeps the mails that it takes, and misbehaves on order.
package mailbox

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net"
	netmail "net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"sync"
	"time"

	"partnerdeposits/lab/hostiletest"
)

// Steps of a connection beside the commands of SMTP, such as "RCPT".
const (
	Greeting = "greeting"
	Text     = "text"  // the whole mail has arrived
	Taken    = "taken" // its 250 was said; a refusal closes the connection
)

// Cut is the answer that closes the connection.
const Cut = ""

// Mail is a copy of a mail that the server took.
type Mail struct {
	At                time.Time
	Sender, Recipient string // of the envelope
	ID                string // the Message-ID, without < and >
	Text              string // the first part, decoded
	Raw               string // header and parts as they were sent
}

// Refuse decides on a step. ok is false for the usual answer. recipient is "" before RCPT, and the step may wait.
type Refuse func(step, recipient string) (answer string, ok bool)

// Server takes mails at Address, a host with its port.
type Server struct {
	*hostiletest.Receiver

	refuse  Refuse
	mu      sync.Mutex
	taken   []Mail
	refused int
}

// Listen starts a server that ends with t. A nil refuse takes all.
func Listen(t hostiletest.TB, refuse Refuse) *Server {
	s := &Server{refuse: refuse}
	if refuse == nil {
		s.refuse = func(string, string) (string, bool) { return "", false }
	}
	s.Receiver = hostiletest.Serve(t, func(c net.Conn) { (&session{Conn: textproto.NewConn(c), server: s}).talk() })
	return s
}

// Mails are the mails taken so far; refused counts the steps that were refused.
func (s *Server) Mails() (taken []Mail, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(taken, s.taken...), s.refused
}

// session is a connection, in which one mail after another is told.
type session struct {
	*textproto.Conn
	server            *Server
	sender, recipient string
}

// say answers a step. done is false if the step was refused, and open if the connection goes on.
func (s *session) say(step, usual string) (done, open bool) {
	if answer, refused := s.server.refuse(step, s.recipient); refused {
		return false, s.turnAway(answer)
	}
	return true, s.PrintfLine("%s", usual) == nil
}

// turnAway answers a refused step. After 421 the server closes the connection (RFC 5321, 3.8).
func (s *session) turnAway(answer string) (open bool) {
	s.server.mu.Lock()
	s.server.refused++
	s.server.mu.Unlock()
	return answer != Cut && s.PrintfLine("%s", answer) == nil && !strings.HasPrefix(answer, "421")
}

var addressOf = regexp.MustCompile(`<([^>]*)>`)

// talk serves the connection until its end.
func (s *session) talk() {
	_, open := s.say(Greeting, "220 mx")
	for open {
		line, err := s.ReadLine()
		if err != nil {
			return
		}
		verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
		address := addressOf.FindStringSubmatch(line)
		switch {
		case verb == "MAIL" && address != nil:
			s.sender = address[1]
		case verb == "RCPT" && address != nil:
			s.recipient = address[1]
		}
		switch verb {
		case "DATA":
			var done bool
			if done, open = s.say(verb, "354 go on"); done && open {
				open = s.text()
			}
		case "QUIT":
			s.say(verb, "221 bye")
			return
		default:
			_, open = s.say(verb, "250 ok")
		}
	}
}

// text reads a mail and keeps it once its 250 is written.
func (s *session) text() (open bool) {
	raw, err := io.ReadAll(s.DotReader())
	if err != nil {
		return false
	}
	if answer, refused := s.server.refuse(Text, s.recipient); refused {
		return s.turnAway(answer)
	}
	m := Mail{Sender: s.sender, Recipient: s.recipient, Raw: string(raw)}
	m.ID, m.Text = read(raw)
	s.server.mu.Lock() // whoever knows of the 250 finds the mail
	defer s.server.mu.Unlock()
	if s.PrintfLine("250 taken") != nil {
		return false
	}
	m.At = time.Now()
	s.server.taken = append(s.server.taken, m)
	_, cut := s.server.refuse(Taken, s.recipient)
	return !cut
}

// read gives the Message-ID, and the first part of a mail with several.
func read(raw []byte) (messageID, text string) {
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return "", ""
	}
	messageID = strings.Trim(m.Header.Get("Message-ID"), "<>")
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return messageID, ""
	}
	part, err := multipart.NewReader(m.Body, params["boundary"]).NextPart() // decodes quoted-printable
	if err != nil {
		return messageID, ""
	}
	first, _ := io.ReadAll(part) // a part that breaks off has no link
	return messageID, string(first)
}

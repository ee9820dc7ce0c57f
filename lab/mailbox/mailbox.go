// Package mailbox is a mail server that keeps the Message-IDs of the mails that it takes, and misbehaves on order.
package mailbox

import (
	"io"
	"net"
	netmail "net/mail"
	"net/textproto"
	"slices"
	"strings"
	"sync"

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

// Refuse decides on a step. ok is false for the usual answer.
type Refuse func(step string) (answer string, ok bool)

// Server takes mails at Address, a host with its port.
type Server struct {
	*hostiletest.Receiver

	refuse Refuse
	mu     sync.Mutex
	taken  []string
}

// Listen starts a server that ends with t.
func Listen(t hostiletest.TB, refuse Refuse) *Server {
	s := &Server{refuse: refuse}
	s.Receiver = hostiletest.Serve(t, func(c net.Conn) { (&session{Conn: textproto.NewConn(c), server: s}).talk() })
	return s
}

// Taken are the Message-IDs of the mails taken so far, without < and >.
func (s *Server) Taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

// session is a connection, in which one mail after another is told.
type session struct {
	*textproto.Conn
	server *Server
}

// say answers a step. done is false if the step was refused, and open if the connection goes on.
func (s *session) say(step, usual string) (done, open bool) {
	if answer, refused := s.server.refuse(step); refused {
		return false, s.turnAway(answer)
	}
	return true, s.PrintfLine("%s", usual) == nil
}

// turnAway answers a refused step. After 421 the server closes the connection (RFC 5321, 3.8).
func (s *session) turnAway(answer string) (open bool) {
	return answer != Cut && s.PrintfLine("%s", answer) == nil && !strings.HasPrefix(answer, "421")
}

// talk serves the connection until its end.
func (s *session) talk() {
	_, open := s.say(Greeting, "220 mx")
	for open {
		line, err := s.ReadLine()
		if err != nil {
			return
		}
		verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
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

// text reads a mail and keeps its Message-ID once its 250 is written.
func (s *session) text() (open bool) {
	body := s.DotReader()
	mail, err := netmail.ReadMessage(body)
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return false
	}
	if answer, refused := s.server.refuse(Text); refused {
		return s.turnAway(answer)
	}
	s.server.mu.Lock() // whoever knows of the 250 finds the mail
	defer s.server.mu.Unlock()
	if s.PrintfLine("250 taken") != nil {
		return false
	}
	s.server.taken = append(s.server.taken, strings.Trim(mail.Header.Get("Message-ID"), "<>"))
	_, cut := s.server.refuse(Taken)
	return !cut
}

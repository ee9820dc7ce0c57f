// Package mailbox is a fake SMTP server for tests. It stores the Message-IDs of accepted mails, and refuses where
// a test wants.
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

// SMTP steps that a test can refuse, besides commands such as "RCPT".
const (
	StepGreeting     = "greeting"
	StepMailReceived = "text" // StepMailReceived: the whole mail has arrived.
	// StepMailAccepted comes after the answer 250; its refusal closes the connection.
	StepMailAccepted = "taken"
)

// AnswerClosingConnection, as the answer to an SMTP step, closes the connection.
const AnswerClosingConnection = ""

// RefuseFunc decides about an SMTP step: ok refuses it with answer, else the usual answer is sent.
type RefuseFunc func(step string) (answer string, ok bool)

// Server is a fake SMTP server at Address (host:port).
type Server struct {
	*hostiletest.Receiver

	refuse RefuseFunc
	mu     sync.Mutex
	taken  []string
}

// Listen starts a fake SMTP server, which ends with the test.
func Listen(t hostiletest.TB, refuse RefuseFunc) *Server {
	s := &Server{refuse: refuse}
	s.Receiver = hostiletest.ServeTCP(t, func(c net.Conn) { (&session{Conn: textproto.NewConn(c), server: s}).talk() })
	return s
}

// AcceptedMessageIDs returns the Message-IDs of the accepted mails, without < and >.
func (s *Server) AcceptedMessageIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

// session is an SMTP connection, for one mail after another.
type session struct {
	*textproto.Conn
	server *Server
}

// say answers an SMTP step. done reports whether it was accepted, open whether the connection goes on.
func (s *session) say(step, usual string) (done, open bool) {
	if answer, refused := s.server.refuse(step); refused {
		return false, s.turnAway(answer)
	}
	return true, s.PrintfLine("%s", usual) == nil
}

// turnAway refuses an SMTP step. open is false if the connection ends, as after a 421 (RFC 5321, 3.8).
func (s *session) turnAway(answer string) (open bool) {
	return answer != AnswerClosingConnection && s.PrintfLine("%s", answer) == nil && !strings.HasPrefix(answer, "421")
}

func (s *session) talk() {
	_, open := s.say(StepGreeting, "220 mx")
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

// text reads a mail, and stores its Message-ID once the answer 250 is written. open reports whether the connection
// goes on.
func (s *session) text() (open bool) {
	body := s.DotReader()
	mail, err := netmail.ReadMessage(body)
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return false
	}
	if answer, refused := s.server.refuse(StepMailReceived); refused {
		return s.turnAway(answer)
	}
	// The lock is held during the answer 250, so that a test that has seen it finds the mail.
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.PrintfLine("250 taken") != nil {
		return false
	}
	s.server.taken = append(s.server.taken, strings.Trim(mail.Header.Get("Message-ID"), "<>"))
	_, cut := s.server.refuse(StepMailAccepted)
	return !cut
}

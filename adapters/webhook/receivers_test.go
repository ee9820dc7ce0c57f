package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/hostiletest"
	webhookports "partnerdeposits/ports/webhooks"
)

// No test may leave a goroutine behind, whatever its receivers do to the sender.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is a timeout for attempts that must not run into it, however busy the machine.
const patient = time.Minute

// newSender makes an insecure sender that the test closes.
func newSender(t testing.TB, change func(*Config)) *Sender {
	c := Config{Timeout: patient, EndpointConcurrency: 8, AllowInsecure: true, UserAgent: "test/1"}
	if change != nil {
		change(&c)
	}
	s := NewSender(c)
	t.Cleanup(s.Close)
	return s
}

// signedAt is the time of all signatures in these tests.
var signedAt = time.Unix(1_763_683_200, 0)

// postTo returns a delivery to url.
func postTo(url string) *webhookports.Delivery {
	return &webhookports.Delivery{
		URL: url, Event: webhook.EventDepositActivated, Secret: "svc_whsec_test",
		Body: []byte(`{"event":"deposit.activated","createdAt":"2026-11-20T22:40:00.000001Z","data":{"id":"dep_1"}}`),
	}
}

// The receivers stand in lab/hostiletest.
type (
	receiver  = hostiletest.Receiver
	authority = hostiletest.CertificateAuthority
)

func serve(t testing.TB, handle func(net.Conn)) *receiver { return hostiletest.ServeTCP(t, handle) }

func serveTLS(t testing.TB, config *tls.Config, handle func(net.Conn)) *receiver {
	return hostiletest.ServeTLS(t, config, handle)
}

func answering(answer string, then func(net.Conn)) func(net.Conn) {
	return hostiletest.FixedResponseHandler(answer, then)
}

func request(r *bufio.Reader) (head, body string, ok bool) { return hostiletest.ReadRequest(r) }

func newAuthority(t testing.TB) *authority { return hostiletest.NewCertificateAuthority(t) }

// trusting makes a sender that trusts the authority.
func trusting(ca *authority) func(*Config) { return func(c *Config) { c.TLS = ca.ClientTLSConfig() } }

// names is a name server: for each name the answers to one question after the other, the last one for ever. What it
// does not know does not exist.
type names map[string][]string

// failing is an answer that says that the name server failed.
const failing = "failing"

func (n names) resolver() *net.Resolver {
	var mu sync.Mutex
	asked := map[string]int{}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe() // no PacketConn, so the resolver speaks TCP: two bytes of length, then the message
		go func() {
			defer func() { _ = theirs.Close() }()
			for {
				question, ok := readDNS(theirs)
				if !ok {
					return
				}
				mu.Lock()
				answer := n.answer(question, asked)
				mu.Unlock()
				if _, err := theirs.Write(answer); err != nil {
					return
				}
			}
		}()
		return ours, nil
	}}
}

func readDNS(c net.Conn) (dnsmessage.Message, bool) {
	var length [2]byte
	var m dnsmessage.Message
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return m, false
	}
	raw := make([]byte, int(length[0])<<8|int(length[1]))
	_, err := io.ReadFull(c, raw)
	return m, err == nil && m.Unpack(raw) == nil
}

func (n names) answer(m dnsmessage.Message, asked map[string]int) []byte {
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.RCode, m.Additionals = true, true, dnsmessage.RCodeNameError, nil
	name := strings.TrimSuffix(q.Name.String(), ".")
	if answers, known := n[name]; known {
		turn := min(asked[name+q.Type.String()], len(answers)-1)
		asked[name+q.Type.String()]++
		m.RCode = dnsmessage.RCodeSuccess
		for _, address := range strings.Fields(answers[turn]) {
			if address == failing {
				m.RCode = dnsmessage.RCodeServerFailure
				break
			}
			header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			ip := net.ParseIP(address)
			if v4 := ip.To4(); v4 != nil && !strings.Contains(address, ":") && q.Type == dnsmessage.TypeA {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: [4]byte(v4)}})
			}
			if strings.Contains(address, ":") && q.Type == dnsmessage.TypeAAAA {
				m.Answers = append(m.Answers,
					dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(ip.To16())}})
			}
		}
	}
	raw, err := m.Pack()
	if err != nil {
		panic(err) // a mistake of the test
	}
	return append([]byte{byte(len(raw) >> 8), byte(len(raw))}, raw...)
}

package webhook

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// Whatever receivers do to the sender in these tests, nothing may be left of it.
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

func postTo(url string) ports.Post {
	return ports.Post{
		URL: url, Event: webhook.DepositActivated, Timestamp: "1763683200", Signature: "sha256=" + strings.Repeat("ab", 32),
		Body: []byte(`{"event":"deposit.activated","createdAt":"2026-11-20T22:40:00.000001Z","data":{"id":"dep_1"}}`),
	}
}

// receiver is a server made of bare connections, for what no decent server does.
type receiver struct {
	address string
	conns   atomic.Int32 // accepted
	done    chan struct{}
	wg      sync.WaitGroup
}

// serve gives each connection to handle and closes it after.
func serve(t testing.TB, handle func(net.Conn)) *receiver {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return serveOn(t, l, handle)
}

// serveTLS does the same behind a handshake.
func serveTLS(t testing.TB, config *tls.Config, handle func(net.Conn)) *receiver {
	return serve(t, func(c net.Conn) {
		secured := tls.Server(c, config)
		if secured.Handshake() == nil {
			handle(secured)
		}
		_ = secured.Close()
	})
}

func serveOn(t testing.TB, l net.Listener, handle func(net.Conn)) *receiver {
	r := &receiver{address: l.Addr().String(), done: make(chan struct{})}
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	r.wg.Add(1)
	go func() {
		defer r.wg.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.conns.Add(1)
			mu.Lock()
			open[c] = true
			mu.Unlock()
			r.wg.Add(1)
			go func() {
				defer r.wg.Done()
				handle(c)
				_ = c.Close()
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			}()
		}
	}()
	t.Cleanup(func() {
		close(r.done)
		_ = l.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		r.wg.Wait()
	})
	return r
}

// request reads one HTTP/1.1 request as it came over the wire; ok is false when there is none.
func request(r *bufio.Reader) (head, body string, ok bool) {
	var b strings.Builder
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return "", "", false
		}
		b.WriteString(line)
		if v, found := strings.CutPrefix(line, "Content-Length: "); found {
			for _, d := range strings.TrimSpace(v) {
				length = length*10 + int(d-'0')
			}
		}
		if line == "\r\n" {
			break
		}
	}
	raw := make([]byte, length)
	if _, err := io.ReadFull(r, raw); err != nil {
		return "", "", false
	}
	return b.String(), string(raw), true
}

// answering gives every request of a connection the same answer, and then goes on with then, if any.
func answering(answer string, then func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		for r := bufio.NewReader(c); ; {
			if _, _, ok := request(r); !ok {
				return
			}
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
			if then != nil {
				then(c)
				return
			}
		}
	}
}

// silent reads until the other side gives up.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// forever writes the same bytes until the other side gives up.
func forever(bytes string) func(net.Conn) {
	block := []byte(strings.Repeat(bytes, max(1, 4096/len(bytes))))
	return func(c net.Conn) {
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	}
}

// trickle writes the same bytes now and then until the other side gives up.
func trickle(bytes string) func(net.Conn) {
	return func(c net.Conn) {
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			silent(c)
		}()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-gone:
				return
			case <-tick.C:
				if _, err := io.WriteString(c, bytes); err != nil {
					_ = c.Close()
				}
			}
		}
	}
}

// reset ends a connection with an RST.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// authority issues certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
}

func newAuthority(t testing.TB) *authority {
	a := &authority{key: newKey(t), pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	a.pool.AddCert(a.cert)
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// issue gives the configuration of a server at 127.0.0.1; change spoils its certificate.
func (a *authority) issue(t testing.TB, change func(*x509.Certificate)) *tls.Config {
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "receiver"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames: []string{"hooks.example"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// trusting makes a sender that trusts the authority.
func (a *authority) trusting(c *Config) { c.TLS = &tls.Config{RootCAs: a.pool} }

// serveHTTP runs a decent server over TLS, with HTTP/2.
func (a *authority) serveHTTP(t testing.TB, handler http.HandlerFunc) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: handler, TLSConfig: a.issue(t, nil), ReadHeaderTimeout: patient}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ServeTLS(l, "", "")
	}()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	return "https://" + l.Addr().String()
}

// names is a name server: for each name the answers to one question after the other, the last one for ever. What it does
// not know does not exist.
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
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(ip.To16())}})
			}
		}
	}
	raw, err := m.Pack()
	if err != nil {
		panic(err) // a mistake of the test
	}
	return append([]byte{byte(len(raw) >> 8), byte(len(raw))}, raw...)
}

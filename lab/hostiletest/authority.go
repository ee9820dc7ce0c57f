package hostiletest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"time"
)

// lifetime of a certificate, beyond that of any run.
const lifetime = 24 * time.Hour

// Authority issues certificates.
type Authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
}

// NewAuthority makes an authority of its own, which no system trusts.
func NewAuthority(t TB) *Authority {
	a := &Authority{key: newKey(t), pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	check(t, err)
	a.cert, err = x509.ParseCertificate(der)
	check(t, err)
	a.pool.AddCert(a.cert)
	return a
}

func newKey(t TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	return key
}

// Issue gives the configuration of a server at 127.0.0.1; change spoils its certificate.
func (a *Authority) Issue(t TB, change func(*x509.Certificate)) *tls.Config {
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "receiver"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames: []string{"hooks.example"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	check(t, err)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// Trust is the configuration of a client that trusts the authority.
func (a *Authority) Trust() *tls.Config { return &tls.Config{RootCAs: a.pool} }

// PEM is the authority's certificate, for a process that shall trust the authority.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// ServeHTTP runs a decent server over TLS, with HTTP/2.
func (a *Authority) ServeHTTP(t TB, handler http.HandlerFunc) (url string) {
	server := httptest.NewUnstartedServer(handler)
	server.TLS, server.EnableHTTP2 = a.Issue(t, nil), true
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

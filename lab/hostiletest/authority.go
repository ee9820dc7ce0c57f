package hostiletest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"time"
)

// lifetime of a test certificate is longer than any run.
const lifetime = 24 * time.Hour

type CertificateAuthority struct{ own tls.Certificate }

// NewCertificateAuthority returns an authority that no system trusts.
func NewCertificateAuthority(t TB) *CertificateAuthority {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
		KeyUsage: x509.KeyUsageCertSign,
	}
	a := &CertificateAuthority{certify(t, template, nil)}
	var err error
	a.own.Leaf, err = x509.ParseCertificate(a.own.Certificate[0])
	check(t, err)
	return a
}

// certify returns a certificate with a new key, signed by the certificate by; nil: by itself.
func certify(t TB, template *x509.Certificate, by *tls.Certificate) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	if by == nil {
		by = &tls.Certificate{Leaf: template, PrivateKey: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.Leaf, &key.PublicKey, by.PrivateKey)
	check(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// IssueServerConfig returns a TLS configuration for a server at 127.0.0.1. change may spoil the certificate before
// it is signed.
func (a *CertificateAuthority) IssueServerConfig(t TB, change func(*x509.Certificate)) *tls.Config {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "receiver"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:    []string{"hooks.example"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	return &tls.Config{Certificates: []tls.Certificate{certify(t, template, &a.own)}}
}

// ClientTLSConfig returns a client's TLS configuration that trusts the authority.
func (a *CertificateAuthority) ClientTLSConfig() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.own.Leaf)
	return &tls.Config{RootCAs: pool}
}

// ServeHTTPS starts a well-behaved web server over TLS with HTTP/2, and returns its URL.
func (a *CertificateAuthority) ServeHTTPS(t TB, handler http.HandlerFunc) (url string) {
	server := httptest.NewUnstartedServer(handler)
	server.TLS, server.EnableHTTP2 = a.IssueServerConfig(t, nil), true
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

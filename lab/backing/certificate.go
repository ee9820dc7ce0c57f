package backing

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"time"
)

const certificateFile, keyFile = "tls.crt", "tls.key"

// certificate is for 127.0.0.1 and for this run. It is its own authority, and its servers are each other's clients.
type certificate struct {
	cert, key string // PEM
	roots     *x509.CertPool
}

func newCertificate() (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "partnerdeposits tests"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	c := &certificate{cert: encodePEM("CERTIFICATE", cert), key: encodePEM("PRIVATE KEY", secret), roots: x509.NewCertPool()}
	c.roots.AppendCertsFromPEM([]byte(c.cert)) // which is right
	return c, nil
}

func encodePEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// trust is the configuration of a client; nil for no certificate.
func (c *certificate) trust() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12}
}

// furnish puts the files of the certificate into the data directory of a server.
func (c *certificate) furnish(h *home) error {
	return errors.Join(h.write(certificateFile, c.cert), h.write(keyFile, c.key))
}

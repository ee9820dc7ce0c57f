package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
)

// signatureOf returns the path of a file's signature: 64 bytes, as openssl pkeyutl reads them.
func signatureOf(path string) string { return path + ".sig" }

// readKey reads an unencrypted private key: Ed25519 in PKCS #8 and PEM, also from a pipe
// (docs/guides/releasing.md).
func readKey(path string) (ed25519.PrivateKey, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	if block.Type == "ENCRYPTED PRIVATE KEY" {
		return nil, fmt.Errorf("%s is encrypted: decrypt it into the command by a pipe, with /dev/stdin as the key",
			path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if private, is := key.(ed25519.PrivateKey); err == nil && is {
		return private, nil
	}
	return nil, fmt.Errorf("%s holds no Ed25519 private key in PKCS #8: make it by openssl genpkey -algorithm ed25519",
		path)
}

func readPublicKey(path string) (ed25519.PublicKey, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if public, is := key.(ed25519.PublicKey); err == nil && is {
		return public, nil
	}
	return nil, fmt.Errorf("%s holds no Ed25519 public key: openssl pkey -pubout makes it from the private key", path)
}

func readPEM(path string) (*pem.Block, error) {
	// os.ReadFile would size its buffer by the file, but a pipe has no size.
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, 1<<16))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM", path)
	}
	return block, nil
}

func signFile(path string, key ed25519.PrivateKey) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(signatureOf(path), ed25519.Sign(key, content), 0o644)
}

func verifyFile(path string, key ed25519.PublicKey) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	signature, err := os.ReadFile(signatureOf(path))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is not signed: %s is absent", path, signatureOf(path))
	}
	if err != nil {
		return err
	}
	if !ed25519.Verify(key, content, signature) {
		return fmt.Errorf("%s does not match its signature: either differs from what the owner of the key signed", path)
	}
	return nil
}

// statement is an image's signed text in cosign's format ("simple signing"), without a repository, as images may be
// copied.
type statement struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
	Optional map[string]string `json:"optional"`
}

func statementOf(digest, version string) ([]byte, error) {
	var s statement
	s.Critical.Image.Digest = digest
	s.Critical.Type = "cosign container image signature"
	s.Optional = map[string]string{"version": version}
	return json.Marshal(s)
}

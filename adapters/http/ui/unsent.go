package ui

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/id"
)

// Cipher encrypts the cookies that hold more than a token (adapters/secrets).
type Cipher interface {
	// Encrypt binds the ciphertext to associatedData: Decrypt with other associated data returns an error.
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
}

const (
	operatorCookie = "operator"
	unsentCookie   = "unsent"
	operatorMaxAge = 30 * 24 * time.Hour // longer than a session
	// unsentLasts is how long a text waits for its operator to log in.
	unsentLasts = 15 * time.Minute
	maxUnsent   = 3 << 10 // bytes of the fields
	maxCookie   = 3900    // bytes of a cookie's value: browsers take 4 KiB with the name
)

// QueryNext is the parameter of the log-in's address that names the page of the desk which follows.
const QueryNext = "next"

// Known is the operator who was last signed in here, with the operator's account. It is no proof that the operator
// still is.
type Known struct{ OperatorID, AccountID id.ID }

// Unsent are the fields of a form that met an ended session.
type Unsent struct {
	Page   string // the path that shows the form
	Fields string // encoded as a form; no files, passwords or codes
	Lost   bool   // the fields were too long to be kept
}

// RememberOperator notes the operator in a cookie, encrypted, for the time after the session.
func (s *Site) RememberOperator(c *fiber.Ctx, k Known) error {
	if s.LastOperator(c) == k {
		return nil
	}
	return s.setSealed(c, operatorCookie, append(k.OperatorID[:], k.AccountID[:]...), operatorMaxAge)
}

// LastOperator gives the operator of RememberOperator; zero for none.
func (s *Site) LastOperator(c *fiber.Ctx) (k Known) {
	if plain := s.openSealed(c, operatorCookie); len(plain) == len(k.OperatorID)+len(k.AccountID) {
		k.OperatorID, k.AccountID = id.ID(plain[:16]), id.ID(plain[16:])
	}
	return k
}

// unsentOf is the content of the cookie of an unsent form.
type unsentOf struct {
	Unsent
	OperatorID id.ID
	Until      time.Time
}

// KeepUnsent keeps the fields of a form in a cookie, encrypted, until the operator has logged in again. Of fields that
// do not fit it notes that they are lost.
func (s *Site) KeepUnsent(c *fiber.Ctx, operatorID id.ID, u Unsent) error {
	if len(u.Fields) > maxUnsent {
		u.Fields, u.Lost = "", true
	}
	err := s.keepUnsent(c, operatorID, u)
	if errors.Is(err, errTooLong) {
		err = s.keepUnsent(c, operatorID, Unsent{Page: u.Page, Lost: true})
	}
	return err
}

func (s *Site) keepUnsent(c *fiber.Ctx, operatorID id.ID, u Unsent) error {
	plain, err := json.Marshal(unsentOf{u, operatorID, time.Now().Add(unsentLasts)})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression) // refuses unknown levels alone
	_, _ = w.Write(plain)                                   // neither it nor Close fails into memory
	_ = w.Close()
	return s.setSealed(c, unsentCookie, packed.Bytes(), unsentLasts)
}

// Unsent gives the form that KeepUnsent has kept for an operator; zero for none.
func (s *Site) Unsent(c *fiber.Ctx, operatorID id.ID) Unsent {
	packed := s.openSealed(c, unsentCookie)
	if packed == nil {
		return Unsent{}
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 4*maxUnsent))
	var u unsentOf
	if err != nil || json.Unmarshal(plain, &u) != nil {
		return Unsent{}
	}
	if u.OperatorID != operatorID || time.Now().After(u.Until) {
		return Unsent{}
	}
	return u.Unsent
}

// DropUnsent forgets the fields that KeepUnsent has kept.
func (s *Site) DropUnsent(c *fiber.Ctx) {
	if c.Cookies(s.cookieName(unsentCookie)) != "" {
		s.expire(c, s.cookieName(unsentCookie))
	}
}

var errTooLong = errors.New("ui: the value is too long for a cookie")

// setSealed sets an encrypted cookie. Returns errTooLong.
func (s *Site) setSealed(c *fiber.Ctx, name string, plain []byte, lasts time.Duration) error {
	sealed, err := s.cipher.Encrypt(plain, []byte("cookie:"+name))
	if err != nil {
		return err
	}
	if base64.RawURLEncoding.EncodedLen(len(sealed)) > maxCookie {
		return errTooLong
	}
	s.setCookie(c, s.cookieName(name), base64.RawURLEncoding.EncodeToString(sealed), lasts)
	return nil
}

// openSealed gives the value of an encrypted cookie; nil for none, and for a value that this service has not set.
func (s *Site) openSealed(c *fiber.Ctx, name string) []byte {
	sealed, err := base64.RawURLEncoding.DecodeString(c.Cookies(s.cookieName(name)))
	if err != nil || len(sealed) == 0 {
		return nil
	}
	plain, err := s.cipher.Decrypt(sealed, []byte("cookie:"+name))
	if err != nil {
		return nil
	}
	return plain
}

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

// CookieCipher encrypts cookies that contain more than a token (adapters/secrets).
type CookieCipher interface {
	// Encrypt binds the ciphertext to associatedData, without which Decrypt fails.
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
}

const (
	operatorCookie = "operator"
	unsentCookie   = "unsent"
	// Lifetime of the cookie that keeps the last operator, longer than a session.
	operatorMaxAge = 30 * 24 * time.Hour
	// unsentLasts is how long an unsent form is kept for its operator to log in again.
	unsentLasts = 15 * time.Minute
	// Largest size in bytes of the kept fields of an unsent form.
	maxUnsent = 3 << 10
	// Largest size in bytes of a cookie's value: browsers accept 4 KiB with the name.
	maxCookie = 3900
)

// AfterLogInQueryParam names the dashboard page to open after the log-in.
const AfterLogInQueryParam = "next"

// RememberedOperator is the last operator signed in with this browser, perhaps no longer signed in.
type RememberedOperator struct{ OperatorID, AccountID id.ID }

// UnsentForm is a form that an operator sent after the session had ended.
type UnsentForm struct {
	Page   string
	Fields string // The unsent form's fields, URL-encoded, without files, passwords and codes.
	Lost   bool   // Whether the unsent form was too long to be kept.
}

// RememberOperator stores the operator in an encrypted cookie that outlasts the session.
func (s *SiteCookies) RememberOperator(c *fiber.Ctx, k RememberedOperator) error {
	if s.LastOperator(c) == k {
		return nil
	}
	return s.setSealed(c, operatorCookie, append(k.OperatorID[:], k.AccountID[:]...), operatorMaxAge)
}

// LastOperator returns the operator that RememberOperator stored; zero for none.
func (s *SiteCookies) LastOperator(c *fiber.Ctx) (k RememberedOperator) {
	if plain := s.openSealed(c, operatorCookie); len(plain) == len(k.OperatorID)+len(k.AccountID) {
		k.OperatorID, k.AccountID = id.ID(plain[:16]), id.ID(plain[16:])
	}
	return k
}

type unsentOf struct {
	UnsentForm
	OperatorID id.ID
	Until      time.Time
}

// KeepUnsentForm stores a form's fields in an encrypted cookie for the operator's next log-in. If they do not fit,
// it records only that they are lost.
func (s *SiteCookies) KeepUnsentForm(c *fiber.Ctx, operatorID id.ID, u UnsentForm) error {
	if len(u.Fields) > maxUnsent {
		u.Fields, u.Lost = "", true
	}
	err := s.keepUnsent(c, operatorID, u)
	if errors.Is(err, errTooLong) {
		err = s.keepUnsent(c, operatorID, UnsentForm{Page: u.Page, Lost: true})
	}
	return err
}

func (s *SiteCookies) keepUnsent(c *fiber.Ctx, operatorID id.ID, u UnsentForm) error {
	plain, err := json.Marshal(unsentOf{u, operatorID, time.Now().Add(unsentLasts)})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	// The error is ignored: flate.NewWriter fails only for unknown levels.
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	_, _ = w.Write(plain) // The errors are ignored: neither Write nor Close fails when writing to memory.
	_ = w.Close()
	return s.setSealed(c, unsentCookie, packed.Bytes(), unsentLasts)
}

// UnsentForm returns the form that KeepUnsentForm stored for an operator; zero for none.
func (s *SiteCookies) UnsentForm(c *fiber.Ctx, operatorID id.ID) UnsentForm {
	packed := s.openSealed(c, unsentCookie)
	if packed == nil {
		return UnsentForm{}
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 4*maxUnsent))
	var u unsentOf
	if err != nil || json.Unmarshal(plain, &u) != nil {
		return UnsentForm{}
	}
	if u.OperatorID != operatorID || time.Now().After(u.Until) {
		return UnsentForm{}
	}
	return u.UnsentForm
}

func (s *SiteCookies) DropUnsentForm(c *fiber.Ctx) {
	if c.Cookies(s.cookieName(unsentCookie)) != "" {
		s.expire(c, s.cookieName(unsentCookie))
	}
}

var errTooLong = errors.New("ui: the value is too long for a cookie")

// setSealed sets an encrypted cookie. Returns errTooLong.
func (s *SiteCookies) setSealed(c *fiber.Ctx, name string, plain []byte, lasts time.Duration) error {
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

// openSealed returns a cookie's decrypted value; nil without the cookie, or if this service did not encrypt it.
func (s *SiteCookies) openSealed(c *fiber.Ctx, name string) []byte {
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

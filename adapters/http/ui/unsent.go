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

// CookieCipher encrypts the cookies that contain more than a token (implemented by adapters/secrets).
type CookieCipher interface {
	// Encrypt binds the ciphertext to associatedData: Decrypt with other associated data returns an error.
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
}

const (
	operatorCookie = "operator"
	unsentCookie   = "unsent"
	// The lifetime of the cookie that keeps the last signed-in operator; it is longer than that of a session.
	operatorMaxAge = 30 * 24 * time.Hour
	// unsentLasts is how long the text of an unsent form is kept for its operator to log in again.
	unsentLasts = 15 * time.Minute
	// Largest size in bytes of the fields that are kept of a form sent after the session had ended.
	maxUnsent = 3 << 10
	// Largest size in bytes of a cookie's value: browsers accept 4 KiB, including the cookie's name.
	maxCookie = 3900
)

// AfterLogInQueryParam is the query parameter of the log-in page that names the dashboard page to open after the
// log-in.
const AfterLogInQueryParam = "next"

// RememberedOperator is the operator who was last signed in with this browser, with the operator's account. It does
// not prove that the operator is still signed in.
type RememberedOperator struct{ OperatorID, AccountID id.ID }

// UnsentForm holds the fields of a form that an operator sent after the session had ended.
type UnsentForm struct {
	Page   string // Path of the page that shows the unsent form.
	Fields string // The fields of the unsent form, URL-encoded, without files, passwords and codes.
	Lost   bool   // True if the fields of the unsent form were too long to be kept; false otherwise.
}

// RememberOperator stores the operator in an encrypted cookie, for the time after the session.
func (s *SiteCookies) RememberOperator(c *fiber.Ctx, k RememberedOperator) error {
	if s.LastOperator(c) == k {
		return nil
	}
	return s.setSealed(c, operatorCookie, append(k.OperatorID[:], k.AccountID[:]...), operatorMaxAge)
}

// LastOperator returns the operator that RememberOperator stored in the cookie; zero for none.
func (s *SiteCookies) LastOperator(c *fiber.Ctx) (k RememberedOperator) {
	if plain := s.openSealed(c, operatorCookie); len(plain) == len(k.OperatorID)+len(k.AccountID) {
		k.OperatorID, k.AccountID = id.ID(plain[:16]), id.ID(plain[16:])
	}
	return k
}

// unsentOf is the content of the cookie that keeps an unsent form.
type unsentOf struct {
	UnsentForm
	OperatorID id.ID
	Until      time.Time
}

// KeepUnsentForm stores the fields of a form in an encrypted cookie until the operator has logged in again. If the
// fields do not fit, the cookie records only that they are lost.
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

// UnsentForm returns the form that KeepUnsentForm has stored for an operator; zero for none.
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

// DropUnsentForm deletes the form that KeepUnsentForm has stored.
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

// openSealed returns the decrypted value of a cookie; nil without the cookie, and for a value that this service
// did not encrypt.
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

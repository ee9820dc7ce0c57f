// Package totp computes the codes of authenticator apps (RFC 6238) with github.com/pquerna/otp: SHA-1, six digits, 30
// seconds, the values that every app supports.
package totp

import (
	"net/url"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"partnerdeposits/core/secret"
)

// issuer names the service in the operator's app.
const issuer = "Rental deposits"

// Codes implements accountports.OneTimeCodes. The zero value is ready to use.
type Codes struct{}

// Code implements accountports.OneTimeCodes.
func (Codes) Code(s secret.Text, step int64) (string, error) {
	return hotp.GenerateCodeCustom(s.Reveal(), uint64(step),
		hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
}

// URI implements accountports.OneTimeCodes, in the format of Google Authenticator's key URIs, which every app reads.
func (Codes) URI(s secret.Text, email string) secret.Text {
	// Apps read a plus sign as itself, so spaces are %20.
	label := url.PathEscape(issuer) + ":" + url.PathEscape(email)
	return secret.Text("otpauth://totp/" + label + "?secret=" + s.Reveal() + "&issuer=" + url.PathEscape(issuer))
}

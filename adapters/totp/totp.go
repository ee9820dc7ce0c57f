// Package totp computes the one-time codes of authenticator apps (RFC 6238) with github.com/pquerna/otp: SHA-1, six
// digits, 30 seconds, the values that every app supports.
package totp

import (
	"net/url"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"partnerdeposits/core/secret"
)

// issuer is the name of the service as an operator's authenticator app shows it.
const issuer = "Rental deposits"

type CodeGenerator struct{}

// Code returns the one-time code of a secret for a step of 30 seconds.
func (CodeGenerator) Code(s secret.Text, step int64) (string, error) {
	return hotp.GenerateCodeCustom(s.Reveal(), uint64(step),
		hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
}

// EnrolmentURI returns the address in a QR code by which an authenticator app adds an account.
func (CodeGenerator) EnrolmentURI(s secret.Text, email string) secret.Text {
	// Write a space as %20, since authenticator apps do not decode a plus sign.
	label := url.PathEscape(issuer) + ":" + url.PathEscape(email)
	return secret.Text("otpauth://totp/" + label + "?secret=" + s.Reveal() + "&issuer=" + url.PathEscape(issuer))
}

package signin

import (
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// Deps are the parts that sign-in uses.
type Deps struct {
	UnitOfWork  ports.UnitOfWork
	Operators   accountports.Operators
	Sessions    accountports.Sessions
	Tokens      accountports.Tokens
	TwoFactors  accountports.TwoFactors
	HalfSignIns accountports.HalfSignIns
	Mails       ports.Mails
	Audit       ports.AuditLog
	Passwords   accountports.Passwords // nil in processes without a log-in
	Codes       accountports.OneTimeCodes
	Entropy     ports.Entropy
	Limiter     ports.Limiter

	DashboardURL string // DASHBOARD_BASE_URL, without a slash at its end
	// VerifyAddresses says that mails are sent, so that addresses can be verified (SMTP_URL).
	VerifyAddresses bool
}

// SignIn is what the use cases of accounts share.
type SignIn struct {
	Authenticator Authenticator
	Tokens        Tokens
	Codes         Codes
}

// New makes the parts of sign-in.
func New(d Deps) SignIn {
	return SignIn{
		Authenticator: Authenticator{
			UnitOfWork: d.UnitOfWork, Operators: d.Operators, Sessions: d.Sessions, Requests: d.Tokens, TwoFactors: d.TwoFactors,
			HalfSignIns: d.HalfSignIns, Passwords: d.Passwords, Entropy: d.Entropy, Limiter: d.Limiter,
		},
		Tokens: Tokens{
			Tokens: d.Tokens, Mails: d.Mails, Entropy: d.Entropy, DashboardURL: d.DashboardURL, Verify: d.VerifyAddresses,
		},
		Codes: Codes{
			UnitOfWork: d.UnitOfWork, Sessions: d.Sessions, TwoFactors: d.TwoFactors, HalfSignIns: d.HalfSignIns, Mails: d.Mails,
			Audit: d.Audit, Codes: d.Codes, Entropy: d.Entropy, DashboardURL: d.DashboardURL,
		},
	}
}

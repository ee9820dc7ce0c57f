package signin

import (
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

type Deps struct {
	UnitOfWork  ports.UnitOfWork
	Operators   accountports.OperatorStore
	Sessions    accountports.SessionStore
	Tokens      accountports.MailTokenStore
	TwoFactors  accountports.TwoFactorStore
	HalfSignIns accountports.HalfSignInStore
	Mails       ports.MailQueue
	Audit       ports.AuditLog
	Passwords   accountports.PasswordHasher // The hasher of passwords; nil in processes without a log-in.
	Codes       accountports.OneTimeCodes
	Entropy     ports.Entropy
	Limiter     ports.Limiter

	// The setting DASHBOARD_BASE_URL, without a slash at its end.
	DashboardURL string
	// VerifyAddresses reports whether mails can be sent, so that addresses are verified.
	VerifyAddresses bool
}

// Parts holds the objects of sign-in that the use cases of operators' accounts share.
type Parts struct {
	Authenticator Authenticator
	Tokens        MailTokens
	Codes         TwoFactorCodes
}

func New(d Deps) Parts {
	return Parts{
		Authenticator: Authenticator{
			UnitOfWork: d.UnitOfWork, Operators: d.Operators, Sessions: d.Sessions, Requests: d.Tokens, TwoFactors: d.TwoFactors,
			HalfSignIns: d.HalfSignIns, Passwords: d.Passwords, Entropy: d.Entropy, Limiter: d.Limiter,
		},
		Tokens: MailTokens{
			Tokens: d.Tokens, Mails: d.Mails, Entropy: d.Entropy, DashboardURL: d.DashboardURL, Verify: d.VerifyAddresses,
		},
		Codes: TwoFactorCodes{
			UnitOfWork: d.UnitOfWork, Sessions: d.Sessions, TwoFactors: d.TwoFactors, HalfSignIns: d.HalfSignIns, Mails: d.Mails,
			Audit: d.Audit, Codes: d.Codes, Entropy: d.Entropy, DashboardURL: d.DashboardURL,
		},
	}
}

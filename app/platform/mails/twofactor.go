package mails

import (
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

// TwoFactorChange is a change of the second factor, and the end of its audit verb.
type TwoFactorChange string

const (
	TwoFactorOn           TwoFactorChange = "enable_totp"
	TwoFactorOff          TwoFactorChange = "disable_totp"
	TwoFactorOffBySupport TwoFactorChange = "reset_totp"
	RecoveryCodesReplaced TwoFactorChange = "new_recovery_codes"
	RecoveryCodeUsed      TwoFactorChange = "use_recovery_code"
)

var TwoFactorChanges = []TwoFactorChange{TwoFactorOn, TwoFactorOff, TwoFactorOffBySupport, RecoveryCodesReplaced,
	RecoveryCodeUsed}

// TwoFactorNotice is the mail about a change of the second factor, without text that a caller may choose.
type TwoFactorNotice struct {
	Operator     connect.Operator
	Change       TwoFactorChange
	DashboardURL string // The setting DASHBOARD_BASE_URL.
}

// twoFactorTexts holds subject and two sentences of a mail, in English and French, by change of the second factor.
// The first sentence contains the time.
var twoFactorTexts = map[TwoFactorChange][3][2]string{
	TwoFactorOn: {
		{"Two-factor codes are on", "Les codes à deux facteurs sont activés"},
		{"Two-factor codes were turned on for your account on %s.",
			"Les codes à deux facteurs ont été activés pour votre compte le %s."},
		{"From now on a log-in and a claim ask for a code of your app.",
			"Désormais, une connexion et une réclamation demandent un code de votre application."},
	},
	TwoFactorOff: {
		{"Two-factor codes are off", "Les codes à deux facteurs sont désactivés"},
		{"Two-factor codes were turned off for your account on %s.",
			"Les codes à deux facteurs ont été désactivés pour votre compte le %s."},
		{"From now on the password alone is enough to log in.", "Désormais, le mot de passe suffit pour se connecter."},
	},
	TwoFactorOffBySupport: {
		{"Our support turned two-factor codes off", "Notre assistance a désactivé les codes à deux facteurs"},
		{"Our support turned two-factor codes off for your account on %s.",
			"Notre assistance a désactivé les codes à deux facteurs pour votre compte le %s."},
		{"From now on the password alone is enough to log in.", "Désormais, le mot de passe suffit pour se connecter."},
	},
	RecoveryCodesReplaced: {
		{"New recovery codes", "Nouveaux codes de secours"},
		{"New recovery codes were made for your account on %s.",
			"De nouveaux codes de secours ont été créés pour votre compte le %s."},
		{"The earlier ones no longer work.", "Les précédents ne fonctionnent plus."},
	},
	RecoveryCodeUsed: {
		{"A recovery code was used", "Un code de secours a été utilisé"},
		{"A recovery code of your account was used on %s.", "Un code de secours de votre compte a été utilisé le %s."},
		{"It does not work again. Your settings show how many are left.",
			"Il ne fonctionne plus. Vos réglages indiquent combien il en reste."},
	},
}

func (m TwoFactorNotice) Mail(mailID id.ID, now time.Time) ports.Mail {
	texts := twoFactorTexts[m.Change]
	return write(mailID, m.Operator.Email, m.Operator.Locale, now, func(l *language) letter {
		return letter{
			subject:    l.say(texts[0][0], texts[0][1]),
			paragraphs: []string{l.say(texts[1][0], texts[1][1], l.minute(now)), l.say(texts[2][0], texts[2][1])},
			button:     button{l.say("Open your settings", "Ouvrir vos réglages"), site.PageURL(m.DashboardURL, site.SettingsPath)},
			after: []string{l.say("If this was not you, change your password at once and tell our support.",
				"Si ce n’était pas vous, changez aussitôt votre mot de passe et prévenez notre assistance.")},
			why: l.becauseOfAccount(),
		}
	})
}

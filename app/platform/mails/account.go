package mails

import (
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

// Mails about an account also go to unverified addresses, so they contain no text that a caller may choose.

// AddressVerification is the mail that verifies an operator's address.
type AddressVerification struct {
	Operator connect.Operator
	To       string // The operator's present address, or the next.
	URL      string // The secret URL of the page with the confirm button.
}

func (m AddressVerification) Mail(mailID id.ID, now time.Time) ports.Mail {
	return write(mailID, m.To, m.Operator.Locale, now, func(l *language) letter {
		return letter{
			subject: l.say("Verify your e-mail address", "Vérifiez votre adresse e-mail"),
			paragraphs: []string{l.say("Somebody entered this address for an account with us. Verify it, if this was you.",
				"Quelqu’un a indiqué cette adresse pour un compte chez nous. Si c’était vous, vérifiez-la.")},
			button: button{l.say("Verify the address", "Vérifier l’adresse"), m.URL},
			after:  []string{l.say("The link works for 24 hours.", "Le lien fonctionne pendant 24 heures.")},
			why: l.say("If this was not you, ignore this mail: without you the address stays unverified.",
				"Si ce n’était pas vous, ignorez cet e-mail : sans vous, l’adresse reste non vérifiée."),
			secret: true,
		}
	})
}

type PasswordReset struct {
	Operator connect.Operator
	URL      string // The secret URL of the page with the password form.
	// LockedOut reports whether the mail is sent because of too many wrong passwords.
	LockedOut bool
}

func (m PasswordReset) Mail(mailID id.ID, now time.Time) ports.Mail {
	return write(mailID, m.Operator.Email, m.Operator.Locale, now, func(l *language) letter {
		subject, news, why := m.words(l)
		return letter{
			subject:    subject,
			paragraphs: news,
			button:     button{l.say("Choose a password", "Choisir un mot de passe"), m.URL},
			after: []string{
				l.say("The link works once, for 30 minutes. Your password stays as it is until you have chosen another.",
					"Le lien fonctionne une fois, pendant 30 minutes. Votre mot de passe reste inchangé tant que vous n’en avez pas choisi un autre.")},
			why:    why,
			secret: true,
		}
	})
}

func (m PasswordReset) words(l *language) (subject string, news []string, why string) {
	if m.LockedOut {
		return l.say("Too many wrong passwords for your account", "Trop de mots de passe erronés pour votre compte"),
			[]string{
				l.say(
					"Somebody tried too many wrong passwords for your account. For up to an hour you can log in only from networks that you have used before.",
					"Quelqu’un a essayé trop de mots de passe erronés pour votre compte. Pendant une heure au plus, vous ne pouvez vous connecter que depuis des réseaux que vous avez déjà utilisés."),
				l.say("If you cannot log in, choose a new password: then you can at once.",
					"Si vous ne pouvez pas vous connecter, choisissez un nouveau mot de passe : vous le pourrez aussitôt."),
			},
			l.say("If you can log in, ignore this mail.", "Si vous pouvez vous connecter, ignorez cet e-mail.")
	}
	return l.say("Choose a new password", "Choisissez un nouveau mot de passe"),
		[]string{l.say("A new password was asked for, for your account.",
			"Un nouveau mot de passe a été demandé pour votre compte.")},
		l.say("If you did not ask for it, ignore this mail.", "Si vous n’avez rien demandé, ignorez cet e-mail.")
}

// AccountChange is a change of an operator's password or address about which a mail is sent.
type AccountChange string

const (
	PasswordChanged AccountChange = "password"
	// The operator's new address is not verified yet.
	EmailChangeRequested AccountChange = "email_asked"
	EmailChanged         AccountChange = "email"
)

var AccountChanges = []AccountChange{PasswordChanged, EmailChangeRequested, EmailChanged}

// AccountChangeNotice is the mail about a change of password or address, sent to the address from before the
// change.
type AccountChangeNotice struct {
	Operator     connect.Operator // The operator from before the change of the account.
	Change       AccountChange
	DashboardURL string // The setting DASHBOARD_BASE_URL.
}

func (m AccountChangeNotice) Mail(mailID id.ID, now time.Time) ports.Mail {
	return write(mailID, m.Operator.Email, m.Operator.Locale, now, func(l *language) letter {
		subject, news := m.words(l, l.minute(now))
		return letter{
			subject:    subject,
			paragraphs: []string{news},
			after: []string{l.say("If this was not you, choose a new password at once, and tell our support.",
				"Si ce n’était pas vous, choisissez tout de suite un nouveau mot de passe et prévenez notre assistance.")},
			button: button{l.say("Choose a password", "Choisir un mot de passe"), site.PageURL(m.DashboardURL, site.ForgotPasswordPath)},
			why:    l.becauseOfAccount(),
		}
	})
}

func (m AccountChangeNotice) words(l *language, at string) (subject, news string) {
	switch m.Change {
	case EmailChangeRequested:
		return l.say("Your e-mail address is about to change", "Votre adresse e-mail va changer"),
			l.say(
				"On %s another e-mail address was entered for your account. It replaces this one as soon as its owner has verified it.",
				"Le %s, une autre adresse e-mail a été indiquée pour votre compte. Elle remplacera celle-ci dès que son titulaire l’aura vérifiée.",
				at)
	case EmailChanged:
		return l.say("Your e-mail address was changed", "Votre adresse e-mail a été modifiée"),
			l.say("On %s the e-mail address of your account was changed. This address no longer logs in.",
				"Le %s, l’adresse e-mail de votre compte a été modifiée. Cette adresse ne permet plus de se connecter.", at)
	default:
		return l.say("Your password was changed", "Votre mot de passe a été modifié"),
			l.say("On %s the password of your account was changed. Other browsers were logged out.",
				"Le %s, le mot de passe de votre compte a été modifié. Les autres navigateurs ont été déconnectés.", at)
	}
}

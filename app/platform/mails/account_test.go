package mails_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/id"
)

func TestResetPassword_OfALockedOutOperator_TellsInBothLanguages(t *testing.T) {
	m := mails.ResetPassword{Operator: ada(""), URL: "https://dash.example/password/reset?token=x", LockedOut: true}
	mail := m.Mail(id.ID{1}, now)
	require.Equal(t, "Too many wrong passwords for your account / Trop de mots de passe erronés pour votre compte",
		mail.Subject)
	require.Equal(t, `Hello,

Somebody tried too many wrong passwords for your account. For up to an hour you can log in only from networks that you have used before.

If you cannot log in, choose a new password: then you can at once.

Choose a password:
https://dash.example/password/reset?token=x

The link works once, for 30 minutes. Your password stays as it is until you have chosen another.

--
Rental deposits
If you can log in, ignore this mail.
The link is for you alone: please do not pass this mail on.


* * *

Bonjour,

Quelqu’un a essayé trop de mots de passe erronés pour votre compte. Pendant une heure au plus, vous ne pouvez vous connecter que depuis des réseaux que vous avez déjà utilisés.

Si vous ne pouvez pas vous connecter, choisissez un nouveau mot de passe : vous le pourrez aussitôt.

Choisir un mot de passe :
https://dash.example/password/reset?token=x

Le lien fonctionne une fois, pendant 30 minutes. Votre mot de passe reste inchangé tant que vous n’en avez pas choisi un autre.

--
Cautions locatives
Si vous pouvez vous connecter, ignorez cet e-mail.
Le lien vous est personnel : ne transférez pas cet e-mail.
`, plain(mail.Body))
}

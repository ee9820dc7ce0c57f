package admin

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"partnerdeposits/process/wire"
)

// keysetFinding returns which secrets in the database the keyset cannot decrypt.
func keysetFinding(k wire.KeysetFinding) finding {
	const name = "keyset"
	var unreadable []string
	for _, u := range k.Unreadable {
		key := fmt.Sprintf("key %d", u.Key)
		if u.Key == 0 {
			key = "no key"
		}
		unreadable = append(unreadable, fmt.Sprintf("%d %s of %s", u.Secrets, u.Kind, key))
	}
	list := strings.Join(unreadable, ", ")
	switch {
	case errors.Is(k.Err, wire.ErrKeysetDiffers):
		problem := "SECRETS_KEYSET is not the keyset of this database"
		if list != "" {
			problem += ": " + list + " do not decrypt; " + count(k.Opened) + " do"
		}
		return bad(name, problem,
			"Give this command, and each process that is not ready for the same reason, the keyset of the others.")
	case k.Err != nil:
		return bad(name, "the secrets cannot be read: "+k.Err.Error(), "Look at the load of the database.")
	case list != "":
		return bad(name, list+" do not decrypt; "+count(k.Opened)+" do",
			"See the runbook of SecretsUnreadable: partners rotate webhook secrets, and you the others.")
	}
	return finding{name: name, detail: fmt.Sprintf("ok: %s, read in %s", count(k.Opened),
		k.Took.Round(time.Millisecond))}
}

func count(secrets int64) string {
	if secrets == 1 {
		return "1 secret"
	}
	return fmt.Sprintf("%d secrets", secrets)
}

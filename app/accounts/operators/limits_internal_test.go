package operators

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

func TestDeskLimits_AreThoseOfTheSpecification_ForEachAccount(t *testing.T) {
	t.Parallel()
	account := id.Account.Of(id.ID{2})
	for _, c := range []struct {
		limit DeskLimit
		want  ports.LimitRule
	}{
		{DeskReads, ports.LimitRule{Name: "desk-reads", Key: "desk:reads:" + account, PerMinute: 600}},
		{DeskForms, ports.LimitRule{Name: "desk-acts", Key: "desk:acts:" + account, PerMinute: 60}},
		{DeskMails, ports.LimitRule{Name: "desk-mails", Key: "desk:mails:" + account, PerHour: 100}},
		{DeskUploads, ports.LimitRule{Name: "desk-files", Key: "desk:files:" + account, PerHour: 200}},
		{DeskExports, ports.LimitRule{Name: "desk-exports", Key: "desk:exports:" + account, PerMinute: 30}},
		{DeskPasswords, ports.LimitRule{Name: "desk-passwords", Key: "desk:passwords:" + account, PerHour: 20}},
	} {
		require.Equal(t, c.want, c.limit.Of(id.ID{2}))
		require.NotEqual(t, c.want.Key, c.limit.Of(id.ID{3}).Key, "each account has a count of its own")
	}
}

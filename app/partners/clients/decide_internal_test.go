package clients

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func TestChangedBy_ADifferentValue_NotesTheTime(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	earlier := now.Add(-time.Hour)
	client := tenant.Client{ID: id.ID{1},
		Person: tenant.Person{Email: "ada@b.example", FirstName: "Ada", LastName: "Love"}, ChangedAt: earlier}
	for name, c := range map[string]struct {
		want   tenant.PersonChange
		fields []string
		first  string
		at     time.Time
	}{
		"another name":   {tenant.PersonChange{FirstName: text("Eve")}, []string{"firstName"}, "Eve", now},
		"the same name":  {tenant.PersonChange{FirstName: text("Ada")}, nil, "Ada", earlier},
		"nothing at all": {tenant.PersonChange{}, nil, "Ada", earlier},
	} {
		after, fields := changedBy(c.want, client, now)
		require.Equal(t, c.fields, fields, name)
		require.Equal(t, []any{id.ID{1}, c.first, "Love", c.at},
			[]any{after.ID, after.FirstName, after.LastName, after.ChangedAt}, name)
	}
	require.Equal(t, "Ada", client.FirstName)
}

func TestListed_ClientsOfAnAccount_WhileItIsLinked(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		link   connect.Link
		err    error
		listed bool
		want   error
	}{
		"linked":       {connect.Link{LinkedAt: now}, nil, true, nil},
		"revoked":      {connect.Link{LinkedAt: now, RevokedAt: now}, nil, false, connect.ErrAccountLinkRevoked},
		"never linked": {connect.Link{}, connect.ErrAccountNotFound, false, nil},
		"not known":    {connect.Link{}, broken, false, broken},
	} {
		ok, err := listed(c.link, c.err)
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, c.listed, ok, name)
	}
}

func TestTextErasure_CountsDepositsThatCameMeanwhile(t *testing.T) {
	t.Parallel()
	done := TextErasureProgress{Total: 2}
	for _, step := range []struct {
		erased bool
		want   TextErasureProgress
	}{
		{true, TextErasureProgress{Total: 2, Read: 1, Erased: 1}}, {false, TextErasureProgress{Total: 2, Read: 2, Erased: 1}},
		{true, TextErasureProgress{Total: 3, Read: 3, Erased: 2}},
	} {
		done = done.after(step.erased)
		require.Equal(t, step.want, done)
	}
}

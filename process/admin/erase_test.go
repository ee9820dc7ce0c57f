package admin

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/servicetest"
)

// person makes a client with so many deposits whose metadata names the person, and gives the ids, oldest first.
func (s *staff) person(email string, deposits int) (clientID string, of []id.ID) {
	s.T.Helper()
	client := tenant.Client{ID: servicetest.NewID(), AccountID: s.AccountID, PartnerID: s.PartnerID,
		CreatedAt: s.Clock.Now(), Person: tenant.Person{Email: email, FirstName: "Ada", LastName: "Lovelace"}}
	s.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Clients.Insert(ctx, client) })
	for range deposits {
		d, _ := s.CreateDeposit(s.T, func(d *deposit.Deposit) {
			d.ClientID, d.Metadata = client.ID, map[string]string{"note": "Ada wants a cot"}
		})
		of = append(of, d.ID)
	}
	return id.Client.Of(client.ID), of
}

// words counts the deposits whose metadata names the person.
func (s *staff) words() int { return s.Count("deposits", "metadata::text LIKE '%Ada%'") }

type erasure struct {
	Clients []struct {
		ClientID string
		Changed  bool
	}
}

func (e erasure) changed() (all []bool) {
	for _, c := range e.Clients {
		all = append(all, c.Changed)
	}
	return all
}

func TestErase_RemovesPeople_AndTheirWordsByCommandsOfTheirOwn(t *testing.T) {
	s := newStaff(t)
	ada, of := s.person("ada@personal.example", 1)
	other, theirs := s.person("bob@personal.example", 1)
	depositID, theirID := id.Deposit.Of(of[0]), id.Deposit.Of(theirs[0])
	erased := func(clientID string) bool {
		var shown struct {
			Clients []struct{ Email, ErasedAt *string }
		}
		s.must(&shown, "client", "show", clientID)
		require.Equal(t, shown.Clients[0].ErasedAt == nil, shown.Clients[0].Email != nil)
		return shown.Clients[0].ErasedAt != nil
	}
	for _, wrong := range []string{"cli" + nobody, "nonsense", ada[:len(ada)-1], depositID} {
		want := "client_not_found: There is no client " + wrong + ". Nothing was erased."
		s.refused(want, "client", "erase", "--id", ada, "--id", wrong)
		s.refused(want, "client", "erase-text", wrong)
		s.refused("deposit_not_found: ", "deposit", "erase-text", strings.Replace(wrong, "dep_", "acct_", 1))
	}
	require.False(t, erased(ada))

	var done erasure
	s.must(&done, "client", "erase", ada)
	require.Equal(t, ada, done.Clients[0].ClientID)
	require.Equal(t, []bool{true}, done.changed())
	require.True(t, erased(ada))
	require.False(t, erased(other))
	s.must(&done, "client", "erase", "--id", ada, "--id", other)
	require.Equal(t, []bool{false, true}, done.changed())
	require.Equal(t, map[string]int{"client.erase": 1}, s.actions(ada))
	require.Equal(t, 2, s.words(), "the words of people go by a command of their own")

	for _, want := range []string{`"changed":1}`, `"changed":0}`} { // a second run finds no words
		got := s.run("client", "erase-text", ada, "--json")
		require.Zero(t, got.exit, got.stderr)
		require.Equal(t, `{"clientId":"`+ada+`","deposits":1,`+want+"\n", got.stdout)
	}
	require.Equal(t, 1, s.words())
	for _, want := range []bool{true, false} {
		var text struct{ Changed bool }
		s.must(&text, "deposit", "erase-text", theirID)
		require.Equal(t, want, text.Changed)
	}
	require.Zero(t, s.words())
	require.Equal(t, map[string]int{"deposit.erase_text": 1}, s.actions(depositID))
}

// An interrupted erasure ends between two clients, or two deposits, and the next run does the rest alone.
func TestErase_Interrupted_GoesOnWithTheRestWhenItRunsAgain(t *testing.T) {
	s := newStaff(t)
	first, of := s.person("ada@personal.example", 2)
	args := []string{"client", "erase", "--id", first}
	var second string
	for _, email := range []string{"bob@personal.example", "eve@personal.example"} {
		second, _ = s.person(email, 0)
		args = append(args, "--id", second)
	}
	left := func() int { return s.Count("clients", "erased_at IS NULL") }
	blocked, _ := id.Client.Parse(args[5])
	unlock := s.lockRow(`SELECT FROM clients WHERE id = $1 FOR UPDATE`, blocked)
	stderr, interrupted := s.begin(args...)
	s.awaitLock()
	require.Equal(t, 130, interrupted())
	require.Contains(t, stderr.String(), "1 of 3 clients erased (33 %)")
	require.Contains(t, stderr.String(), "1 of 3 clients are erased, and the command erases the rest when it runs again")
	unlock()
	require.Equal(t, 2, left())
	var done erasure
	s.must(&done, args...)
	require.Equal(t, []bool{false, true, true}, done.changed())
	require.Zero(t, left())

	unlock = s.lockRow(`SELECT FROM deposits WHERE id = $1 FOR UPDATE`, of[0]) // the newest is read first
	stderr, interrupted = s.begin("client", "erase-text", first)
	s.awaitLock()
	require.Equal(t, 130, interrupted())
	require.Contains(t, stderr.String(),
		"1 of 2 deposits hold no words any more, and the command goes on with the rest when it runs again")
	unlock()
	require.Equal(t, 1, s.words())
	got := s.run("client", "erase-text", first, "--json")
	require.Zero(t, got.exit, got.stderr)
	require.JSONEq(t, `{"clientId":"`+first+`","deposits":2,"changed":1}`, got.stdout)
	require.Contains(t, got.stderr, `{"progress":{"done":0,"total":2,"unit":"deposits read",`)
	require.Zero(t, s.words())
}

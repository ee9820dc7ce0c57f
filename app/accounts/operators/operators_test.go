//go:build !unit

package operators_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/connect"
	"partnerdeposits/lab/servicetest"
	accountports "partnerdeposits/ports/accounts"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

// counting records the hash of each comparison, so that a test sees the comparison for an unknown e-mail too, and who
// waited for a turn.
type counting struct {
	mu     sync.Mutex
	hashes []string
	turns  []accountports.PasswordCaller
}

func (c *counting) Hash(_ context.Context, password string, who accountports.PasswordCaller) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns = append(c.turns, who)
	return "plain:" + password, nil
}
func (c *counting) Matches(_ context.Context, password, hash string, who accountports.PasswordCaller) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hashes, c.turns = append(c.hashes, hash), append(c.turns, who)
	return hash == "plain:"+password, nil
}

func setup(t *testing.T) (*operators.Service, *servicetest.Clock, *counting, *servicetest.Kit) {
	t.Helper()
	clock, passwords := servicetest.NewClock(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)), &counting{}
	kit := servicetest.New(t, func(s *servicetest.Setup) {
		s.Clock = clock
		s.Parts = func(p *servicetest.Deps) { p.Passwords = passwords }
	})
	return kit.Operators, clock, passwords, kit
}

func form(email string) connect.SignUpForm {
	return connect.SignUpForm{Email: email, Password: "correct horse", CompanyName: "Chalets"}
}

func TestSignUp_BeginsASession_WhoseTokenIsNotStored(t *testing.T) {
	t.Parallel()
	s, _, _, kit := setup(t)
	in, err := s.SignUp(t.Context(), form("A@b.example"), operators.Browser{})
	require.NoError(t, err)
	o, a, err := s.FindCurrentOperator(t.Context(), in.Token.Reveal())
	require.NoError(t, err)
	require.Equal(t, in.Operator.ID, o.ID)
	require.Equal(t, "Chalets", a.CompanyName)
	require.Equal(t, 1, kit.Count("sessions", "position($1::bytea IN token_hash) = 0", []byte(in.Token.Reveal())))
	for _, token := range []string{in.Token.Reveal(), in.Token.Reveal(), "nonsense"} {
		require.NoError(t, s.LogOut(t.Context(), token), "again is no error")
	}
	ended(t, s, in)
}

// atOnce makes calls at once, and counts them by their errors.
func atOnce(n int, call func(i int) error) map[string]int {
	ended := make(chan error, n)
	for i := range n {
		go func() { ended <- call(i) }()
	}
	counts := map[string]int{}
	for range n {
		counts[fmt.Sprint(<-ended)]++
	}
	return counts
}

func TestSignUps_AtOnceWithOneEmailInAnyCase_MakeOneOperator(t *testing.T) {
	t.Parallel()
	s, _, _, kit := setup(t)
	require.Equal(t, map[string]int{"<nil>": 1, connect.ErrEmailTaken.Error(): 11}, atOnce(12, func(i int) error {
		_, err := s.SignUp(t.Context(), form([]string{"a@b.example", "A@B.example"}[i%2]), operators.Browser{})
		return err
	}))
	for _, table := range []string{"operators", "accounts", "sessions"} {
		require.Equal(t, 1, kit.Count(table, ""), table)
	}
}

func TestLogIn_ComparesAlsoForAnUnknownEmail(t *testing.T) {
	t.Parallel()
	s, _, passwords, _ := setup(t)
	_, err := s.SignUp(t.Context(), form("a@b.example"), operators.Browser{})
	require.NoError(t, err)
	for _, email := range []string{"a@b.example", "nobody@b.example", "no address\x00", ""} {
		_, err := s.LogIn(t.Context(), email, "wrong", operators.Browser{})
		require.ErrorIs(t, err, connect.ErrBadCredentials)
	}
	require.Equal(t, []string{"plain:correct horse", "", "", ""}, passwords.hashes, "an empty hash costs the same time")
}

func TestLogIn_FromANetworkThatTheOperatorUsed_WaitsInFront(t *testing.T) {
	t.Parallel()
	s, clock, passwords, _ := setup(t)
	home, cafe := operators.Browser{Network: "192.0.2.1"}, operators.Browser{Network: "198.51.100.1"}
	_, err := s.SignUp(t.Context(), form("a@b.example"), home)
	require.NoError(t, err)
	_, err = s.SignUp(t.Context(), form("other@b.example"), cafe)
	require.NoError(t, err)
	logIn := func(email, password string, from operators.Browser) accountports.PasswordCaller {
		_, err := s.LogIn(t.Context(), email, password, from)
		require.Equal(t, password == "correct horse", err == nil, email)
		return passwords.turns[len(passwords.turns)-1]
	}
	require.Equal(t, []accountports.PasswordCaller{{Network: home.Network}, {Network: cafe.Network}}, passwords.turns,
		"a sign-up is a stranger's")
	require.Equal(t, accountports.PasswordCaller{Network: home.Network, Known: true}, logIn("a@b.example", "wrong", home))
	require.Equal(t, accountports.PasswordCaller{Network: cafe.Network}, logIn("a@b.example", "wrong", cafe),
		"another operator's network")
	require.Equal(t, accountports.PasswordCaller{Network: home.Network}, logIn("nobody@b.example", "wrong", home))
	require.Equal(t, accountports.PasswordCaller{}, logIn("a@b.example", "correct horse", operators.Browser{}),
		"an unknown network")
	require.Equal(t, accountports.PasswordCaller{Network: cafe.Network}, logIn("a@b.example", "correct horse", cafe))
	require.Equal(t, accountports.PasswordCaller{Network: cafe.Network, Known: true}, logIn("a@b.example",
		"correct horse", cafe))
	clock.Add(accountports.SignInNetworkRetention + time.Second)
	require.Equal(t, accountports.PasswordCaller{Network: home.Network}, logIn("a@b.example", "wrong", home), "long ago")
}

package twofactor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
)

var now = time.Date(2026, 11, 22, 10, 0, 15, 0, time.UTC)

// numbered gives a code that tells its secret and its step.
func numbered(s secret.Text, step int64) (string, error) {
	return fmt.Sprintf("%s%06d", strings.ToLower(s.Reveal()), step%1_000_000), nil
}

func at(f twofactor.SecondFactor, after time.Duration) string {
	code, _ := numbered(f.Secret, twofactor.CodePeriodNumberAt(now.Add(after)))
	return code
}

func TestAccept_TakesTheNeighboursOfThePresentStep(t *testing.T) {
	t.Parallel()
	for after, accepted := range map[time.Duration]bool{
		0: true, -twofactor.CodePeriod: true, twofactor.CodePeriod: true, -2 * twofactor.CodePeriod: false,
		2 * twofactor.CodePeriod: false,
	} {
		f := twofactor.SecondFactor{Secret: "s"}
		err := f.AcceptCode(at(f, after), now, numbered)
		if accepted {
			require.NoError(t, err, after)
			require.Equal(t, twofactor.CodePeriodNumberAt(now.Add(after)), f.LastStep)
		} else {
			require.ErrorIs(t, err, twofactor.ErrWrongCode, after)
			require.Zero(t, f.LastStep)
		}
	}
}

func TestAccept_TakesNoCodeTwice_AndNoneFromBefore(t *testing.T) {
	t.Parallel()
	f := twofactor.SecondFactor{Secret: "s"}
	require.NoError(t, f.AcceptCode(at(f, 0), now, numbered))
	require.ErrorIs(t, f.AcceptCode(at(f, 0), now, numbered), twofactor.ErrWrongCode, "replayed")
	require.ErrorIs(t, f.AcceptCode(at(f, -twofactor.CodePeriod), now, numbered), twofactor.ErrWrongCode,
		"older than the last one")
	require.NoError(t, f.AcceptCode(at(f, twofactor.CodePeriod), now, numbered))
}

func TestAccept_RefusesTheCodeOfAnotherSecret_AndTextsThatAreNone(t *testing.T) {
	t.Parallel()
	f := twofactor.SecondFactor{Secret: "s"}
	other := twofactor.SecondFactor{Secret: "t"}
	for _, code := range []string{at(other, 0), "", " ", "000000", strings.Repeat("1", 4000), "\x00"} {
		require.ErrorIs(t, f.AcceptCode(code, now, numbered), twofactor.ErrWrongCode, "%q", code)
	}
	spaced := at(f, 0)
	require.NoError(t, f.AcceptCode(" "+spaced[:3]+" "+spaced[3:]+"\u00a0", now, numbered), "as people type it")
}

func TestRecoveryCodes_AreReadHoweverTyped_AndBelongToTheirOperator(t *testing.T) {
	t.Parallel()
	code := twofactor.NewRecoveryCode([]byte("0123456789")).Reveal()
	require.Regexp(t, `^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`, code)
	hash, ok := twofactor.RecoveryCodeHash(id.ID{1}, code)
	require.True(t, ok)
	typed, ok := twofactor.RecoveryCodeHash(id.ID{1}, strings.ToUpper(strings.ReplaceAll(code, "-", " "))+" ")
	require.True(t, ok)
	require.Equal(t, hash, typed)
	foreign, ok := twofactor.RecoveryCodeHash(id.ID{2}, code)
	require.True(t, ok)
	require.NotEqual(t, hash, foreign)
	for _, text := range []string{"", "123456", code[:15], code + "a", "0189-0189-0189-0189", "é"} {
		_, ok := twofactor.RecoveryCodeHash(id.ID{1}, text)
		require.False(t, ok, text)
	}
}

func TestOn_NeedsAConfirmedFactor(t *testing.T) {
	t.Parallel()
	require.False(t, (*twofactor.SecondFactor)(nil).Enabled())
	require.False(t, (&twofactor.SecondFactor{}).Enabled())
	require.True(t, (&twofactor.SecondFactor{ConfirmedAt: now}).Enabled())
}

func TestSecret_IsBase32WithoutPadding(t *testing.T) {
	t.Parallel()
	require.Equal(t, "GAYTEMZUGU3DOOBZGAYTEMZUGU3DOOBZ", twofactor.NewSecret([]byte("01234567890123456789")).Reveal())
}

func TestAccept_WithoutCodesToCompareWith_SaysWhy(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such secret")
	f := twofactor.SecondFactor{Secret: "s"}
	require.ErrorIs(t, f.AcceptCode("123456", now, func(secret.Text, int64) (string, error) { return "", broken }), broken)
	require.Zero(t, f.LastStep)
}

func TestWaits_ForTheFirstCodeOfAFactor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		factor *twofactor.SecondFactor
		want   error
	}{
		"no factor": {nil, twofactor.ErrNotEnabled},
		"not confirmed": {&twofactor.SecondFactor{Secret: "s",
			CreatedAt: now.Add(time.Second - twofactor.EnrolmentLifetime)}, nil},
		"an hour old": {&twofactor.SecondFactor{Secret: "s", CreatedAt: now.Add(-twofactor.EnrolmentLifetime)},
			twofactor.ErrNotEnabled},
		"on": {&twofactor.SecondFactor{ConfirmedAt: now}, twofactor.ErrAlreadyEnabled},
	} {
		require.ErrorIs(t, c.factor.CheckConfirmable(now), c.want, name)
	}
}

func TestWait_AfterTooManyTries_LastsUntilTheWindowIsOver(t *testing.T) {
	t.Parallel()
	since := now.Add(-10 * time.Minute)
	for tries, want := range map[int]time.Duration{1: 0, 5: 0, 6: 5 * time.Minute, 100: 5 * time.Minute} {
		require.Equal(t, want, twofactor.NetworkLockoutWait(tries, since, now), tries)
	}
	for tries, want := range map[int]time.Duration{1: 0, 50: 0, 51: 50 * time.Minute, 1000: 50 * time.Minute} {
		require.Equal(t, want, twofactor.OverallLockoutWait(tries, false, since, now), tries)
		require.Zero(t, twofactor.OverallLockoutWait(tries, true, since, now),
			"a network that signed in before has the first bound alone")
	}
}

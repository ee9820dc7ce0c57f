package money_test

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"partnerdeposits/core/money"
)

func TestParseEuros_ReadsByValue(t *testing.T) {
	for in, want := range map[string]money.Cents{
		"70": 7000, "70.000": 7000, "7e1": 7000, "7E+1": 7000, "0.7e2": 7000, "7000e-2": 7000, "69.99": 6999,
		"2500.01": 250001,
		"1e2":     10000, "0": 0, "-0": 0, "0e999999999999999999999": 0, "-5": -500, "0.01": 1,
		"1e400": money.MaxParsedCents, "-1e400": -money.MaxParsedCents, "1e99999999999999999999999": money.MaxParsedCents,
		"123456789012345678901234567890": money.MaxParsedCents, "9999999999999.99": 999_999_999_999_999,
		"10000000000000": money.MaxParsedCents, // a cent more has 16 digits
	} {
		got, err := money.ParseEuros(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
}

func TestParseEuros_PartsOfACent_AreRefused(t *testing.T) {
	for _, in := range []string{"70.001", "1e-3", "1e-400", "0.005", "70.000000000000000000000001"} {
		_, err := money.ParseEuros(in)
		require.ErrorIs(t, err, money.ErrFractionCents, in)
	}
}

func TestParseEuros_WhatIsNoJSONNumber_IsRefused(t *testing.T) {
	for _, in := range []string{"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "1x", "\"100\"", "null", "0x10", "1_000",
		"NaN", "Infinity", " 70", "70 ", "1e1.5"} {
		_, err := money.ParseEuros(in)
		require.ErrorIs(t, err, money.ErrNotNumber, in)
	}
}

func TestParseEuros_AgreesWithRationalArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strconv.Itoa(rapid.IntRange(-99999, 99999).Draw(t, "whole"))
		if f := rapid.StringMatching(`[0-9]{0,4}`).Draw(t, "fraction"); f != "" {
			s += "." + f
		}
		if rapid.Bool().Draw(t, "exponent?") {
			s += "e" + strconv.Itoa(rapid.IntRange(-4, 4).Draw(t, "exp"))
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is no number to big.Rat", s)
		}
		want.Mul(want, big.NewRat(100, 1))
		got, err := money.ParseEuros(s)
		if !want.IsInt() {
			if err == nil {
				t.Fatalf("%s: want an error, got %d", s, got)
			}
			return
		}
		if err != nil || int64(got) != want.Num().Int64() {
			t.Fatalf("%s: want %s, got %d, %v", s, want.Num(), got, err)
		}
	})
}

// Literals of any length and exponent: the exact value as math/big has it, or the right refusal, or the limit.
func TestParseEuros_AnyLiteral_AgreesWithRationalArithmetic(t *testing.T) {
	hundred, limit := big.NewRat(100, 1), new(big.Rat).SetInt64(int64(money.MaxParsedCents))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "literal")
		want, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is no number to big.Rat", s)
		}
		want.Mul(want, hundred)
		got, err := money.ParseEuros(s)
		switch {
		case !want.IsInt():
			require.ErrorIs(t, err, money.ErrFractionCents, s)
		case new(big.Rat).Abs(want).Cmp(new(big.Rat).SetInt64(1e15)) >= 0:
			require.NoError(t, err, s)
			require.Equal(t, want.Sign() > 0, got == money.MaxParsedCents, s) // beyond every maximum
			require.Equal(t, want.Sign() < 0, got == -money.MaxParsedCents, s)
			require.Equal(t, 1, limit.Cmp(new(big.Rat).SetInt64(1e15)))
		default:
			require.NoError(t, err, s)
			require.Equal(t, want.Num().Int64(), int64(got), s)
		}
	})
}

// An amount that is written and read again is the same amount, and its text has two decimals at most.
func TestCents_WrittenAndReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := money.Cents(rapid.Int64Range(-1e14, 1e14).Draw(t, "cents"))
		for _, text := range []string{string(c.AppendEuros(nil)), c.String()} {
			got, err := money.ParseEuros(text)
			require.NoError(t, err, text)
			require.Equal(t, c, got, text)
		}
	})
}

func TestCents_Formats(t *testing.T) {
	require.Equal(t, "2500.01", money.Cents(250001).String())
	require.Equal(t, "-0.05", money.Cents(-5).String())
	require.Equal(t, "0.00", money.Cents(0).String())
	for c, want := range map[money.Cents]string{7000: "70", 7050: "70.5", 250001: "2500.01", 5: "0.05", -150: "-1.5",
		0: "0"} {
		require.Equal(t, want, string(c.AppendEuros(nil)))
	}
}

func TestShare_RoundsHalvesToEven(t *testing.T) {
	require.Equal(t, money.Cents(280), money.Cents(7000).ShareInBasisPoints(400))
	require.Equal(t, money.Cents(2), money.Cents(5).ShareInBasisPoints(5000))
	require.Equal(t, money.Cents(4), money.Cents(7).ShareInBasisPoints(5000))
}

func FuzzParseEuros(f *testing.F) {
	for _, s := range []string{"70", "1e400", "-1e-400", "70.001", strings.Repeat("9", 400)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := money.ParseEuros(s); err == nil && (c > money.MaxParsedCents || c < -money.MaxParsedCents) {
			t.Fatalf("%q gave %d", s, c)
		}
	})
}

func BenchmarkParseEuros(b *testing.B) {
	for b.Loop() {
		if _, err := money.ParseEuros("1250.50"); err != nil {
			b.Fatal(err)
		}
	}
}

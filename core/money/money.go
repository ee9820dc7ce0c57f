// Package money holds amounts of money as integer cents. Euros are read exactly, never through a float (api.md §1,
// "Money").
package money

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Cents is an amount in euro cents.
type Cents int64

// MaxParsedCents bounds the amounts that ParseEuros returns, beyond every maximum of this service.
const MaxParsedCents Cents = 1 << 53

// Errors of ParseEuros: the text is not a number, or not a whole number of cents.
var (
	ErrNotNumber     = errors.New("money: not a JSON number")
	ErrFractionCents = errors.New("money: not a whole number of cents")
)

// ParseEuros reads a JSON number of euros as cents: 70, 70.000 and 7e1 are the same amount. Beyond ±MaxParsedCents
// it returns that bound.
//
// Returns ErrNotNumber if s is not a JSON number and ErrFractionCents for parts of a cent.
func ParseEuros(s string) (Cents, error) {
	n, ok := scanNumber(s)
	if !ok {
		return 0, ErrNotNumber
	}
	digits := strings.TrimLeft(n.digits, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return 0, nil
	}
	// Zeros cut from the digits add to the exponent, and a euro has 10^2 cents.
	exp := n.exp + int64(len(digits)-len(trimmed)) + 2
	if exp < 0 {
		return 0, ErrFractionCents
	}
	cents := MaxParsedCents
	if exp+int64(len(trimmed)) <= 15 {
		v, err := strconv.ParseInt(trimmed+strings.Repeat("0", int(exp)), 10, 64)
		if err != nil {
			return 0, ErrNotNumber
		}
		cents = Cents(v)
	}
	if n.negative {
		cents = -cents
	}
	return cents, nil
}

type number struct {
	negative bool
	digits   string // The digits of a number's integer and fraction parts.
	exp      int64  // The power of ten of the number's last digit.
}

// scanNumber splits a JSON number into sign, digits and exponent (RFC 8259, section 6).
func scanNumber(s string) (n number, ok bool) {
	if strings.HasPrefix(s, "-") {
		n.negative, s = true, s[1:]
	}
	whole := leadingDigits(s)
	if whole == "" || (len(whole) > 1 && whole[0] == '0') {
		return n, false
	}
	s = s[len(whole):]
	n.digits = whole
	if strings.HasPrefix(s, ".") {
		fraction := leadingDigits(s[1:])
		if fraction == "" {
			return n, false
		}
		n.digits += fraction
		n.exp = -int64(len(fraction))
		s = s[1+len(fraction):]
	}
	if s == "" {
		return n, true
	}
	e, ok := scanExponent(s)
	n.exp += e
	return n, ok
}

// exponentCap bounds a number's exponent, so that sums of exponents cannot overflow.
const exponentCap = 1 << 40

func scanExponent(s string) (int64, bool) {
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	if s == "" || leadingDigits(s) != s {
		return 0, false
	}
	var e int64
	for i := range len(s) {
		e = min(e*10+int64(s[i]-'0'), exponentCap)
	}
	if negative {
		e = -e
	}
	return e, true
}

func leadingDigits(s string) string {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i]
}

// String formats the amount in euros with two decimals: "2500.01".
func (c Cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}

// AppendEuros appends the amount as the shortest JSON number of euros: 70, 70.5, 2500.01.
func (c Cents) AppendEuros(b []byte) []byte {
	if c < 0 {
		b, c = append(b, '-'), -c
	}
	b = strconv.AppendInt(b, int64(c/100), 10)
	f := int64(c % 100)
	if f == 0 {
		return b
	}
	b = append(b, '.', byte('0'+f/10))
	if f%10 == 0 {
		return b
	}
	return append(b, byte('0'+f%10))
}

// ShareInBasisPoints returns a share of the amount in hundredths of a percent, with half a cent rounded to even.
func (c Cents) ShareInBasisPoints(bps int64) Cents {
	const whole = 10_000
	product := int64(c) * bps
	q, r := product/whole, product%whole
	if 2*r > whole || (2*r == whole && q%2 != 0) {
		q++
	}
	return Cents(q)
}

package deposit

import "strings"

// referenceAlphabet omits characters that sound or look alike: 0 O 1 I L U.
const referenceAlphabet = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// ReferenceBytes is the number of random bytes from which Reference makes a deposit's reference.
const ReferenceBytes = 8

// NewReference returns a deposit's reference, like D-7K3M-9Q2X, made from ReferenceBytes random bytes.
func NewReference(random []byte) string {
	out := []byte("D-____-____")
	at := 0
	for i, c := range out {
		if c == '_' {
			out[i] = referenceAlphabet[int(random[at])%len(referenceAlphabet)]
			at++
		}
	}
	return string(out)
}

// ParseReference returns the stored form of a reference that a person typed: D-7K3M-9Q2X for "d7k3m9q2x". ok is
// false for a text that is no reference, which is returned unchanged.
func ParseReference(heard string) (reference string, ok bool) {
	letters := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToUpper(heard))
	const whole = len("D7K3M9Q2X")
	if len(letters) != whole || letters[0] != 'D' {
		return heard, false
	}
	return letters[:1] + "-" + letters[1:5] + "-" + letters[5:], true
}

// minBeginning is the least number of characters after the "D" with which a search finds references.
const minBeginning = 3

// ReferencePrefixes returns the prefixes of references that a search text may mean, with or without its D: D-DVFK
// and D-VFK for "dvfk"; none for a text that is too short or has other characters.
func ReferencePrefixes(heard string) []string {
	upper := strings.ToUpper(heard)
	letters := strings.NewReplacer("-", "", " ", "").Replace(upper)
	if strings.ContainsFunc(letters, func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') }) {
		return nil
	}
	bodies := []string{letters}
	if body, ok := strings.CutPrefix(letters, "D"); ok {
		bodies = append(bodies, body)
		if strings.HasPrefix(upper, "D-") {
			bodies = bodies[1:]
		}
	}
	var beginnings []string
	for _, body := range bodies {
		if n := len(body); n >= minBeginning && n <= ReferenceBytes {
			first := min(n, ReferenceBytes/2)
			beginnings = append(beginnings, strings.TrimSuffix("D-"+body[:first]+"-"+body[first:], "-"))
		}
	}
	return beginnings
}

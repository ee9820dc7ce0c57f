package deposit

import "strings"

// referenceAlphabet leaves out characters that sound or look alike: 0 O 1 I L U.
const referenceAlphabet = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// ReferenceBytes is the number of random bytes that Reference takes.
const ReferenceBytes = 8

// Reference makes a reference like D-7K3M-9Q2X from ReferenceBytes random bytes.
func Reference(random []byte) string {
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

// WrittenReference gives the stored form of a reference that was read aloud or typed: D-7K3M-9Q2X for "d7k3m9q2x". ok
// is false for a text that cannot be a reference; the text is then given back as it is.
func WrittenReference(heard string) (reference string, ok bool) {
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

// minBeginning is the least number of letters behind the D in the beginning of a reference.
const minBeginning = 3

// ReferenceBeginnings gives the prefixes of stored references that a text stands for, in any spelling, with or
// without the leading D: D-VFKB-2 for "vfkb2", and both D-DVFK and D-VFK for "dvfk". A text with fewer than three
// letters behind the D, or with signs that no reference has, gives none.
func ReferenceBeginnings(heard string) []string {
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

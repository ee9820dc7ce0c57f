package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Lang is a language of the pages, as its BCP 47 tag.
type Lang string

// The languages of the pages. Every text exists in each of them.
const (
	English Lang = "en"
	French  Lang = "fr"
)

// Langs lists the languages in the order in which the pages offer them.
var Langs = []Lang{English, French}

// Name returns the name of the language in the language itself, such as français.
func (l Lang) Name() string {
	if l == French {
		return "Français"
	}
	return "English"
}

// LocalizedText is an entry of the message catalogue, in English and French.
type LocalizedText struct{ en, fr string }

var catalogue []LocalizedText

// frenchSpaces replaces the space before or after punctuation such as ? and : with a no-break space, as French
// typography requires.
var frenchSpaces = strings.NewReplacer(" ?", noBreak+"?", " !", noBreak+"!", " :", noBreak+":", " ;", noBreak+";", "« ",
	"«"+noBreak, " »", noBreak+"»")

// T adds a text to the message catalogue. Only package initialisation may call T: the catalogue has no lock.
func T(en, fr string) LocalizedText {
	t := LocalizedText{en: en, fr: frenchSpaces.Replace(fr)}
	catalogue = append(catalogue, t)
	return t
}

// In returns the text in a language, with args formatted as by fmt.Sprintf.
func (t LocalizedText) In(l Lang, args ...any) string {
	s := t.en
	if l == French {
		s = t.fr
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}

// IncompleteTexts lists texts that a language lacks or whose format verbs differ between languages. A test requires an
// empty list.
func IncompleteTexts() []string {
	var out []string
	for _, t := range catalogue {
		if strings.TrimSpace(t.en) == "" || strings.TrimSpace(t.fr) == "" || !slices.Equal(verbs(t.en), verbs(t.fr)) {
			out = append(out, fmt.Sprintf("en %q fr %q", t.en, t.fr))
		}
	}
	return out
}

var verb = regexp.MustCompile(`%(\[\d+\])?[a-z%]`)

func verbs(s string) []string {
	found := verb.FindAllString(s, -1)
	// Sort the format verbs, since a language may use them in another order (%[2]s).
	slices.Sort(found)
	return found
}

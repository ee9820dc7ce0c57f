package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

type Lang string

// Languages of the pages; every text exists in each.
const (
	English Lang = "en"
	French  Lang = "fr"
)

var Langs = []Lang{English, French}

// Name returns the language's name in itself, such as français.
func (l Lang) Name() string {
	if l == French {
		return "Français"
	}
	return "English"
}

type LocalizedText struct{ en, fr string }

var catalogue []LocalizedText

// frenchSpaces puts no-break spaces beside punctuation such as ? and :, as French typography requires.
var frenchSpaces = strings.NewReplacer(" ?", noBreak+"?", " !", noBreak+"!", " :", noBreak+":", " ;", noBreak+";", "« ",
	"«"+noBreak, " »", noBreak+"»")

// T adds a text to the message catalogue, only during package initialisation: the catalogue has no lock.
func T(en, fr string) LocalizedText {
	t := LocalizedText{en: en, fr: frenchSpaces.Replace(fr)}
	catalogue = append(catalogue, t)
	return t
}

// In returns the text in a language, with args as in fmt.Sprintf.
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

// IncompleteTexts lists texts that a language lacks or whose format verbs differ; a test requires none.
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
	// A language may use the format verbs in another order (%[2]s).
	slices.Sort(found)
	return found
}

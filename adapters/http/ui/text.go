package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Lang is a language of the pages, as its BCP 47 tag.
type Lang string

// The languages. Every text exists in each of them.
const (
	English Lang = "en"
	French  Lang = "fr"
)

// Langs lists the languages in the order in which the pages offer them.
var Langs = []Lang{English, French}

// Name is what the language calls itself.
func (l Lang) Name() string {
	if l == French {
		return "Français"
	}
	return "English"
}

// Text is one entry of the message catalogue: the same words in each language.
type Text struct{ en, fr string }

var catalogue []Text

// French puts a space before these signs, where no line may break.
var frenchSpaces = strings.NewReplacer(" ?", noBreak+"?", " !", noBreak+"!", " :", noBreak+":", " ;", noBreak+";", "« ", "«"+noBreak, " »", noBreak+"»")

// T adds a text to the catalogue. It is called while packages are initialised, never later.
func T(en, fr string) Text {
	t := Text{en: en, fr: frenchSpaces.Replace(fr)}
	catalogue = append(catalogue, t)
	return t
}

// In gives the text in a language, its verbs filled with args as fmt does.
func (t Text) In(l Lang, args ...any) string {
	s := t.en
	if l == French {
		s = t.fr
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}

// Incomplete lists the texts that a language lacks or whose verbs differ between languages; tests hold it to be empty.
func Incomplete() []string {
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
	slices.Sort(found) // word order may differ, through %[2]s
	return found
}

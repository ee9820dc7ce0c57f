package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// counted are words that hide a noun, each with the largest number that 1,000 words of a text may hold.
var counted = []struct {
	word string
	most float64
}{{"what", 3}, {"one", 4}, {"it", 10}}

// figures are the counts of a text.
type figures struct {
	words int
	hits  map[string]int
}

// add counts a text. A word is a run of letters and digits, with an apostrophe inside: "its" and "it's" are words of their
// own and do not count. A hyphen separates words, so "one-time" counts.
func (f *figures) add(text string) {
	if f.hits == nil {
		f.hits = map[string]int{}
	}
	for _, w := range word.FindAllString(text, -1) {
		f.words++
		f.hits[strings.ToLower(w)]++
	}
}

var word = regexp.MustCompile(`[\pL\pN_]*\pL[\pL\pN_]*(['’]\pL+)*`)

// per1000 is the number of times that w stands in 1,000 words of the text.
func (f *figures) per1000(w string) float64 {
	if f.words == 0 {
		return 0
	}
	return 1000 * float64(f.hits[w]) / float64(f.words)
}

// broken names the words that are above their bound.
func (f *figures) broken() []string {
	var words []string
	for _, c := range counted {
		if f.per1000(c.word) > c.most {
			words = append(words, c.word)
		}
	}
	return words
}

// collect gives the comments below a folder, or of a single file, without generated files.
func collect(path string) ([]comment, error) {
	var all []comment
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		read := readers[filepath.Ext(file)]
		if err != nil || d.IsDir() || read == nil {
			return err
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !generated(filepath.ToSlash(file), string(source)) {
			all = append(all, read(file, string(source))...)
		}
		return nil
	})
	return all, err
}

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// counted are the words that stand for a noun which the reader has to guess, with the most that a text may hold of
// each, per 1,000 words.
var counted = []struct {
	word string
	most float64
}{{"what", 3}, {"one", 4}, {"it", 10}}

// figures are the counts of a text.
type figures struct {
	words int
	hits  map[string]int
}

// add counts a text. A word is letters and digits with the apostrophes inside them, so "its" and "it's" are not
// "it"; a hyphen parts words, so "one-time" holds "one".
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

// per1000 is how often a word stands in 1,000 words of the text.
func (f *figures) per1000(w string) float64 {
	if f.words == 0 {
		return 0
	}
	return 1000 * float64(f.hits[w]) / float64(f.words)
}

// broken names the words that stand in the text more often than they may.
func (f *figures) broken() []string {
	var words []string
	for _, c := range counted {
		if f.per1000(c.word) > c.most {
			words = append(words, c.word)
		}
	}
	return words
}

// collect gives the comments below a folder, or of a single file, generated files left out.
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

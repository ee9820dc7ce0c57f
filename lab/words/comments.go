package main

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

// comment is the text of adjacent comment lines, without the marks (`//`, `--`, `/* */`).
type comment struct {
	File string
	Line int // of the first line
	Text string
}

// readers gives, for each extension, the function that finds the comments of a file.
var readers = map[string]func(file, source string) []comment{
	".go":    goComments,
	".templ": func(file, source string) []comment { return lineComments(file, source, "//") },
	".sql":   func(file, source string) []comment { return lineComments(file, source, "--") },
	".lua":   func(file, source string) []comment { return lineComments(file, source, "--") },
	".md":    prose,
}

// generated reports whether a generator wrote the file.
func generated(file, source string) bool {
	return strings.HasSuffix(file, "_templ.go") || strings.HasSuffix(file, ".gen.go") ||
		strings.Contains(file, "internal/sqlc/") || generatedHeader.MatchString(source)
}

var (
	generatedHeader = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	// Directives to a tool: //go:build, //nolint:gosec, and the lines of sqlc and goose. A reason after a directive counts.
	goDirective  = regexp.MustCompile(`^//(nolint\S*|[a-z0-9]+:\S+.*)\s*(//)?`)
	sqlDirective = regexp.MustCompile(`^--\s*(name:|\+goose).*`)
	output       = regexp.MustCompile(`(?i)^//\s*(unordered )?output:`)
)

// goComments finds comments with the scanner of Go, which knows strings. The expected output of an Example does not count.
func goComments(file, source string) []comment {
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile(file, -1, len(source)), []byte(source), nil, scanner.ScanComments)
	var (
		found    blocks
		codeLine int  // last line of code so far
		inOutput bool // within the expected output of an Example
	)
	for {
		pos, tok, text := s.Scan()
		at := set.Position(pos)
		switch {
		case tok == token.EOF:
			return found.list
		case tok == token.SEMICOLON && text == "\n": // inserted by the scanner at the end of a line
		case tok != token.COMMENT:
			codeLine = at.Line + strings.Count(text, "\n")
			inOutput = false
		case inOutput || output.MatchString(text):
			inOutput = true
		case strings.HasPrefix(text, "//"):
			found.add(file, at.Line, codeLine == at.Line, strings.TrimPrefix(goDirective.ReplaceAllString(text, ""), "//"))
		default:
			found.add(file, at.Line, codeLine == at.Line, strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/"))
		}
	}
}

// lineComments finds comments that begin with mark and end with the line. A mark within quotes, or without a space before,
// does not begin a comment.
func lineComments(file, source, mark string) []comment {
	var found blocks
	for i, line := range strings.Split(source, "\n") {
		start := commentStart(line, mark)
		if start < 0 {
			continue
		}
		text := sqlDirective.ReplaceAllString(line[start:], "")
		found.add(file, i+1, strings.TrimSpace(line[:start]) != "", strings.TrimPrefix(text, mark))
	}
	return found.list
}

func commentStart(line, mark string) int {
	var quote byte
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case strings.HasPrefix(line[i:], mark) && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i
		}
	}
	return -1
}

// prose gives the paragraphs of a Markdown file, without code.
func prose(file, source string) []comment {
	var found blocks
	fenced := false
	for i, line := range strings.Split(source, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case !fenced:
			found.add(file, i+1, false, inlineCode.ReplaceAllString(line, ""))
		}
	}
	return found.list
}

var inlineCode = regexp.MustCompile("`[^`]*`")

// blocks joins comments on adjacent lines.
type blocks struct {
	list []comment
	last int // last line of the last comment; 0: no comment may be joined
}

// add takes the next comment of a file. A comment behind code stands alone.
func (b *blocks) add(file string, line int, behindCode bool, text string) {
	end := line + strings.Count(text, "\n")
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		b.last = 0
		return
	case b.last != 0 && line == b.last+1 && !behindCode:
		b.list[len(b.list)-1].Text += "\n" + text
	default:
		b.list = append(b.list, comment{File: file, Line: line, Text: text})
	}
	b.last = end
	if behindCode {
		b.last = 0
	}
}

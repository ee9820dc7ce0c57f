package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Names that a Python attribute cannot have: keywords and methods of dict.
var (
	pythonKeywords = strings.Fields("and as assert async await break class continue def del elif else except finally " +
		"for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False")
	pythonDict = strings.Fields("clear copy fromkeys get items keys pop popitem setdefault update values")
)

// pythonDoc returns a Python docstring in lines of 120 columns.
func pythonDoc(indent, text string) string {
	text = strings.TrimSpace(strings.NewReplacer(`\`, `\\`, `"""`, `'''`).Replace(text))
	if text == "" {
		return ""
	}
	var paragraphs []string
	for line := range strings.SplitSeq(text, "\n") {
		last := len(paragraphs) - 1
		if last >= 0 && line != "" && paragraphs[last] != "" && !strings.HasPrefix(line, "- ") {
			paragraphs[last] += " " + line
			continue
		}
		paragraphs = append(paragraphs, line)
	}
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.TrimRight(pythonWrap(indent, paragraph), " ")
	}
	out := strings.Join(paragraphs, "\n")
	out = indent + `"""` + strings.TrimPrefix(out, indent)
	if !strings.Contains(out, "\n") && len([]rune(out)) < 118 {
		return out + "\"\"\"\n"
	}
	return out + "\n" + indent + "\"\"\"\n"
}

// pythonWrap breaks a text into lines of 117 columns.
func pythonWrap(indent, text string) string {
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len([]rune(line+" "+word)) > 117 {
			lines = append(lines, line)
			line = indent
		}
		line += map[bool]string{true: word, false: " " + word}[line == indent]
	}
	return strings.Join(append(lines, line), "\n")
}

// pythonFold returns a list in lines of 120 columns that begin in one column.
func pythonFold(head string, items []string, tail string) string {
	out, column := head, len(head)
	for i, item := range items {
		item += map[bool]string{true: tail, false: ","}[i == len(items)-1]
		if i > 0 && column+1+len(item) > 120 {
			out, column = out+"\n"+strings.Repeat(" ", len(head)), len(head)
		} else if i > 0 {
			out, column = out+" ", column+1
		}
		out, column = out+item, column+len(item)
	}
	return out
}

// pythonName returns a Python name: camelCase becomes snake_case, and from becomes from_.
func pythonName(name string) string {
	var out strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			fmt.Fprintf(&out, "_%c", unicode.ToLower(r))
			continue
		}
		out.WriteRune(r)
	}
	if slices.Contains(pythonKeywords, out.String()) {
		return out.String() + "_"
	}
	return out.String()
}

// pythonAttribute returns the Python attribute for a response's field.
func pythonAttribute(name string) string {
	if slices.Contains(pythonDict, name) {
		return name + "_"
	}
	return pythonName(name)
}

package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The markers around the table of a walk. The name of the walk follows begin.
const (
	begin = "<!-- The files and figures of this walk are drawn by `make walks`: "
	end   = "<!-- End of the walk. -->\n"
)

// row is a file of a walk with its words.
type row struct{ file, step, data string }

var rowLine = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\| (.*) \\|$")

// draw gives the page with the tables of the trace. gaps names the files without words, and the words without a file.
func draw(page string, files trace) (drawn string, gaps []string, err error) {
	for _, w := range walks {
		marker := begin + w.name + " -->\n"
		before, rest, found := strings.Cut(page, marker)
		body, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return "", nil, fmt.Errorf("the page does not hold the marker lines of the walk %s", w.name)
		}
		var rows []row
		for _, m := range rowLine.FindAllStringSubmatch(body, -1) {
			rows = append(rows, row{m[1], m[2], m[3]})
		}
		main, beside := split(files[w.name], rows)
		rows, open := arrange(rows, main)
		for _, gap := range open {
			gaps = append(gaps, w.name+": "+gap)
		}
		page = before + marker + "\n" + table(rows) + "\n" + figures(rows, beside) + "\n" + end + after
	}
	return page, gaps, nil
}

// split parts the files of a walk from the helpers that it uses. A helper with a row of its own belongs to the walk.
func split(files []string, rows []row) (main, beside []string) {
	for _, file := range files {
		own := slices.ContainsFunc(rows, func(r row) bool { return r.file == file })
		if !own && slices.Contains(helpers, path.Dir(file)) {
			beside = append(beside, file)
		} else {
			main = append(main, file)
		}
	}
	return main, beside
}

// arrange gives the rows of the files, in the order of the rows so far. The words of a moved file move along. A file
// without words comes behind the last file of its package.
func arrange(rows []row, files []string) (arranged []row, gaps []string) {
	missing := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		return slices.ContainsFunc(rows, func(r row) bool { return r.file == file })
	})
	for _, r := range rows {
		if !slices.Contains(files, r.file) {
			to := movedTo(r.file, missing)
			if to == "" {
				gaps = append(gaps, fmt.Sprintf("no such file in the trace: %s | %s | %s", r.file, r.step, r.data))
				continue
			}
			missing = slices.DeleteFunc(missing, func(file string) bool { return file == to })
			r.file = to
		}
		arranged = append(arranged, r)
	}
	for _, file := range missing {
		at := len(arranged)
		for i, r := range arranged {
			if path.Dir(r.file) == path.Dir(file) {
				at = i + 1
			}
		}
		arranged = slices.Insert(arranged, at, row{file: file})
	}
	for _, r := range arranged {
		if r.step == "" || r.data == "" {
			gaps = append(gaps, "no words for "+r.file)
		}
	}
	return arranged, gaps
}

// movedTo finds the file that has the same name and shares the most folders; "" without one that is alone in that.
func movedTo(file string, among []string) (to string) {
	most := -1
	folders := strings.Split(path.Dir(file), "/")
	for _, candidate := range among {
		if path.Base(candidate) != path.Base(file) {
			continue
		}
		shared := 0
		for _, folder := range strings.Split(path.Dir(candidate), "/") {
			if slices.Contains(folders, folder) {
				shared++
			}
		}
		switch {
		case shared > most:
			most, to = shared, candidate
		case shared == most:
			to = ""
		}
	}
	return to
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| file | step | the data is now |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.file, r.step, r.data)
	}
	return b.String()
}

// figures counts files, packages and crossings, and lists the helpers.
func figures(rows []row, beside []string) string {
	packages, crossings := map[string]bool{}, 0
	for i, r := range rows {
		folder := path.Dir(r.file)
		packages[folder] = true
		if i > 0 && folder != path.Dir(rows[i-1].file) {
			crossings++
		}
	}
	text := fmt.Sprintf("**%d files, %d packages, %d crossings.**", len(rows), len(packages), crossings)
	if len(beside) > 0 {
		text += fmt.Sprintf(" %d helpers: `", len(beside)) + strings.Join(beside, "`, `") + "`."
	}
	return wrap(text)
}

// wrap breaks a text into lines that end at 120 columns.
func wrap(text string) string {
	const width = 120
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}

package config

import (
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/secret"
)

// fileSuffix makes the name of the variable that names the file of a secret.
const fileSuffix = "_FILE"

// longestSecret bounds a file, so that a wrong path such as /dev/zero is a mistake and not a full memory.
const longestSecret = 64 << 10

// filePatience bounds the wait for a pipe, which may have no writer or a silent one.
const filePatience = 5 * time.Second

// isSecret tells whether the variable may hold a secret, and so may come from a file.
func (s setting) isSecret() bool { return s.field.Type == reflect.TypeFor[secret.Text]() }

// readFiles adds the secrets that come from files to set.
func readFiles(set map[string]string) mistakes {
	found := mistakes{}
	for _, s := range settings(Config{}) {
		variable := s.name() + fileSuffix
		path := set[variable]
		switch {
		case path == "" || !s.isSecret():
		case set[s.name()] != "":
			found.add(s.name(), "is set, and so is "+variable+"; set one of them")
		default:
			value, problem := readSecret(path)
			if problem != "" {
				found.add(s.name(), "the file that "+variable+" names "+problem)
				continue
			}
			set[s.name()] = value
		}
	}
	return found
}

// readSecret gives the text of a file without the newlines at its end. problem names neither text nor path: a path may
// be the secret itself, set to the wrong variable.
func readSecret(path string) (text, problem string) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer is empty
	if err != nil {
		return "", cannotBeRead(err)
	}
	defer file.Close()
	_ = file.SetReadDeadline(time.Now().Add(filePatience)) // fails for a regular file, which needs none
	content, err := io.ReadAll(io.LimitReader(file, longestSecret+1))
	switch text = strings.TrimRight(string(content), "\r\n"); {
	case err != nil:
		return "", cannotBeRead(err)
	case len(content) > longestSecret:
		return "", "is longer than 64 KiB"
	case text == "":
		return "", "is empty"
	case strings.HasPrefix(text, "\ufeff") || strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		return "", "is not UTF-8 text without a byte order mark"
	}
	return text, ""
}

func cannotBeRead(err error) string {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "cannot be read: it gave no end within " + filePatience.String()
	}
	var reason syscall.Errno
	if errors.As(err, &reason) {
		return "cannot be read: " + reason.Error()
	}
	return "cannot be read"
}

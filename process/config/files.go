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

// fileSuffix ends the name of a variable that names a file with a secret.
const fileSuffix = "_FILE"

// longestSecret bounds the size of a file with a secret, so that a path such as /dev/zero is reported as a mistake.
const longestSecret = 64 << 10

// filePatience bounds the wait for a secret from a pipe, which may have no writer.
const filePatience = 5 * time.Second

// isSecret reports whether the variable may hold a secret, and so may be read from a file.
func (s setting) isSecret() bool { return s.field.Type == reflect.TypeFor[secret.Text]() }

// readFiles adds to set the secrets whose variables name a file, and returns the mistakes found.
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

// readSecret returns a file's text without newlines at its end, or a problem, which contains neither text nor path:
// the path may be a secret, set to the wrong variable.
func readSecret(path string) (text, problem string) {
	// With O_NONBLOCK, a pipe without a writer counts as empty instead of blocking.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", cannotBeRead(err)
	}
	defer file.Close()
	// A regular file takes no deadline and needs none.
	_ = file.SetReadDeadline(time.Now().Add(filePatience))
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

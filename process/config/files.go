package config

import (
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"syscall"

	"partnerdeposits/core/secret"
)

// fileSuffix makes the name of the variable that names the file of a secret.
const fileSuffix = "_FILE"

// longestSecret bounds a file, so that a wrong path such as /dev/zero is a mistake and not a full memory.
const longestSecret = 64 << 10

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
	file, err := os.Open(path)
	if err != nil {
		return "", cannotBeRead(err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, longestSecret+1))
	switch text = strings.TrimRight(string(content), "\r\n"); {
	case err != nil:
		return "", cannotBeRead(err)
	case len(content) > longestSecret:
		return "", "is longer than 64 KiB"
	case text == "":
		return "", "is empty"
	}
	return text, ""
}

func cannotBeRead(err error) string {
	var reason syscall.Errno
	if errors.As(err, &reason) {
		return "cannot be read: " + reason.Error()
	}
	return "cannot be read"
}

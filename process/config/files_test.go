package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/process/config"
)

// secretSettings gives a good value for each variable that may come from a file.
var secretSettings = map[string]string{
	"DATABASE_URL":            "postgres://u:hunter2@db:5432/svc",
	"DATABASE_DIRECT_URL":     "postgres://u:hunter2@pg:5432/svc",
	"REDIS_URL":               "redis://:hunter2@r:6379/0",
	"REDIS_SENTINEL_PASSWORD": "hunter2",
	"SECRETS_KEYSET":          secrets.DevelopmentKeyset,
	"SMTP_URL":                "smtps://u:hunter2@mail:465",
	"STRIPE_SECRET_KEY":       "sk_test_hunter2",
	"STRIPE_WEBHOOK_SECRET":   "whsec_hunter2",
}

// written gives the path of a new file with this content.
func written(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// secretsOf gives the fields that may hold a secret, by their variables.
func secretsOf(c config.Config) map[string]string {
	found := map[string]string{}
	value := reflect.ValueOf(c)
	for i := range value.NumField() {
		if text, is := value.Field(i).Interface().(secret.Text); is {
			found[value.Type().Field(i).Tag.Get("env")] = text.Reveal()
		}
	}
	return found
}

func TestLoad_EverySecretComesFromAFileToo(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "\n", "\r\n"} {
		environ := []string{"MAIL_FROM=a@b.example"}
		for name, value := range secretSettings {
			environ = append(environ, name+"_FILE="+written(t, value+end))
		}
		c, err := config.Load(environ, config.RequiredForService)
		require.NoError(t, err)
		require.Equal(t, secretSettings, secretsOf(c))
	}
}

func TestLoad_ASettingThatIsNoSecret_ComesFromNoFile(t *testing.T) {
	t.Parallel()
	c, err := config.Load(with("LOG_FORMAT_FILE="+written(t, "text")), config.RequiredForService)
	require.NoError(t, err)
	require.Equal(t, "json", c.LogFormat)
}

func TestLoad_NamesEachMistakeOfAFile_AndShowsNeitherTextNorPath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ value, path, want string }{
		"both":         {"hunter2", written(t, "hunter2"), "is set, and so is SMTP_URL_FILE; set one of them"},
		"not there":    {"", "/nowhere/hunter2", "the file that SMTP_URL_FILE names cannot be read: no such file or directory"},
		"a folder":     {"", t.TempDir(), "the file that SMTP_URL_FILE names cannot be read: is a directory"},
		"empty":        {"", written(t, "\n"), "the file that SMTP_URL_FILE names is empty"},
		"endless":      {"", "/dev/zero", "the file that SMTP_URL_FILE names is longer than 64 KiB"},
		"a wrong text": {"", written(t, "http://hunter2"), "is not an smtp"},
		"no writer":    {"", pipe(t), "the file that SMTP_URL_FILE names is empty"},
		"a mark":       {"", written(t, "\ufeffsmtp://hunter2"), "the file that SMTP_URL_FILE names is not UTF-8 text without"},
		"UTF-16":       {"", written(t, "s\x00m\x00t\x00p\x00"), "the file that SMTP_URL_FILE names is not UTF-8 text without"},
	} {
		_, err := config.Load(with("SMTP_URL="+c.value, "SMTP_URL_FILE="+c.path, "MAIL_FROM=a@b.example"),
			config.RequiredForService)
		var found config.Mistakes
		require.ErrorAs(t, err, &found, name)
		require.Len(t, found, 1, name)
		require.Contains(t, found[0], "SMTP_URL: "+c.want, name)
		require.NotContains(t, err.Error(), "hunter2", name)
		require.NotContains(t, err.Error(), os.TempDir(), name)
	}
}

// pipe makes a pipe with a name.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

func TestLoad_APipe_GivesItsTextAndIsNotWaitedForWithoutAnEnd(t *testing.T) {
	t.Parallel()
	path := pipe(t)
	writer, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = writer.WriteString("redis://r")
	require.NoError(t, err)
	_, err = config.Load([]string{"DATABASE_URL=postgres://p", "REDIS_URL_FILE=" + path}, config.RequiredForService)
	require.ErrorContains(t, err, "REDIS_URL: the file that REDIS_URL_FILE names cannot be read: it gave no end within 5s")
	require.NoError(t, writer.Close())

	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	_, err = write.WriteString("redis://r\n")
	require.NoError(t, err)
	require.NoError(t, write.Close())
	c, err := config.Load([]string{"DATABASE_URL=postgres://p", fmt.Sprintf("REDIS_URL_FILE=/dev/fd/%d", read.Fd())},
		config.RequiredForService)
	require.NoError(t, err)
	require.Equal(t, "redis://r", c.RedisURL.Reveal())
}

func TestLoad_AnUnreadableFileOfARequiredSecret_IsASingleMistake(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{"DATABASE_URL_FILE=/nowhere", "REDIS_URL=redis://r"}, config.RequiredForService)
	require.EqualError(t, err, "the configuration has 1 mistake:\n  - DATABASE_URL: the file that DATABASE_URL_FILE names "+
		"cannot be read: no such file or directory")
}

func TestDocs_NameTheSecretsThatComeFromFiles(t *testing.T) {
	t.Parallel()
	var want []string
	for name := range secretSettings {
		want = append(want, name)
	}
	var named []string
	for _, code := range docstest.CodeSpans(docstest.ReadSection(t, "docs/spec/settings.md", "Secrets from files")) {
		if _, isSecret := settings()[code]; isSecret {
			named = append(named, code)
		}
	}
	require.ElementsMatch(t, want, named)
}

package audit_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// entropy makes one id.
type entropy struct{}

func (entropy) NewID() id.ID     { return id.ID{9} }
func (entropy) Bytes(int) []byte { return nil }

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func TestEntry_HasIDAndTimeOfTheAct(t *testing.T) {
	t.Parallel()
	detail := map[string]string{"mails": "1"}
	require.Equal(t, ports.AuditEntry{
		ID: id.ID{9}, At: noon, Actor: actor.Staff, Action: "deposit.send_link", Subject: "dep_1", Detail: detail,
	}, audit.NewEntry(entropy{}, noon, actor.Staff, audit.DepositSendLink, "dep_1", detail))
}

func TestEntry_OfAPartner_NamesTheKeyInTheDetail(t *testing.T) {
	t.Parallel()
	by, key := actor.Partner(id.ID{1}, id.ID{2}), id.APIKey.Of(id.ID{2})
	given := map[string]string{"url": "https://a.example"}
	e := audit.NewEntry(entropy{}, noon, by, audit.WebhookCreate, "pwh_1", given)
	require.Equal(t, map[string]string{"url": "https://a.example", "keyId": key}, e.Detail)
	require.Equal(t, map[string]string{"url": "https://a.example"}, given, "the caller's map stays as it is")
	e = audit.NewEntry(entropy{}, noon, by, audit.WebhookDelete, "pwh_1", nil)
	require.Equal(t, map[string]string{"keyId": key}, e.Detail)
}

func TestEntry_IsTheOnlyMakerOfEntriesAmongTheUseCases(t *testing.T) {
	t.Parallel()
	var makers []string
	app := os.DirFS("../..")
	require.NoError(t, fs.WalkDir(app, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(app, path)
		if strings.Contains(string(text), "ports.AuditEntry{") {
			makers = append(makers, path)
		}
		return err
	}))
	require.Equal(t, []string{"platform/audit/audit.go"}, makers)
}

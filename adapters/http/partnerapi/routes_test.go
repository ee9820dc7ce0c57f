package partnerapi_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
)

// The opposite mistake, a route that openapi.yaml lacks, panics in Mount.
func TestRoutes_AreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			var body any
			if op.RequestBody != nil {
				body = `{"broken`
			}
			sent := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(strings.TrimPrefix(path, partnerapi.Prefix), "nobody")
			r := c.do(method, sent, body)
			if r.status >= 400 {
				require.NotContains(t, []string{"route_not_found", "method_not_allowed"}, r.parsed().Error.Code, method+" "+path)
			}
		}
	}
}

func TestHead_AnswersLikeGet(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	r := c.do("HEAD", "/me", nil)
	require.Equal(t, 200, r.status)
	require.Empty(t, r.body)
}

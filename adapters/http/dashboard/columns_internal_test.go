package dashboard

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/depositfields"
)

// zeros makes the same tokens for every page, so that pages differ by their deposits alone.
type zeros struct{}

func (zeros) NewID() id.ID       { return id.ID{} }
func (zeros) Bytes(n int) []byte { return make([]byte, n) }

func TestPageOfADeposit_ShowsEveryFieldThatIsNotHidden(t *testing.T) {
	t.Parallel()
	site, err := ui.NewSiteCookies("https://desk.example", zeros{}, nil)
	require.NoError(t, err)
	p := &pages{Deps: Deps{Site: site, Operators: operators.New(operators.Deps{})}}
	var v desk.DepositView
	app := fiber.New()
	app.Get("/", func(c *fiber.Ctx) error { return p.renderDeposit(c, caller{}, http.StatusOK, v, actForm{}, "") })
	depositfields.RequireAllFieldsShown(t, depositfields.DisplayedOnDashboardPage, func(d *deposit.Deposit) string {
		v = desk.DepositView{
			Deposit: d, Now: d.ExpiresAt.Add(-time.Hour), CoverEnd: d.ExpiresAt, CoversContract: true, Debt: &deposit.Debt{},
			History: []desk.HistoryEntry{{At: d.CreatedAt, Happened: desk.EntryDepositCreated}},
		}
		res, err := app.Test(httptest.NewRequest(http.MethodGet, "/", nil), -1)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		page, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode, string(page))
		sendable := v
		sendable.Sendable = true // its page would ask for the checkout link as well
		return string(page) + fmt.Sprint(factsOf(sendable, ui.English))
	})
}

func TestExport_HasEveryFieldThatIsNotHidden(t *testing.T) {
	t.Parallel()
	depositfields.RequireAllFieldsShown(t, depositfields.DisplayedInCSVExport, func(d *deposit.Deposit) string {
		cells := cellsOf(desk.DepositRow{Deposit: d})
		require.Len(t, cells, len(exportColumns))
		return strings.Join(cells, ",")
	})
}

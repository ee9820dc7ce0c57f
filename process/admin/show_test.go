package admin

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/support"
	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/depositfields"
)

func TestDepositShow_TellsEveryFieldThatIsNotHidden(t *testing.T) {
	t.Parallel()
	depositfields.RequireAllFieldsShown(t, depositfields.DisplayedByAdminShow, func(d *deposit.Deposit) string {
		text, err := json.Marshal(describedDeposit(support.DepositRecord{Deposit: d}))
		require.NoError(t, err)
		return string(text)
	})
}

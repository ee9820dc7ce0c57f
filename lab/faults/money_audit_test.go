package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/stripetest"
)

func TestMoneyAudit_ComparesAPaymentWithTheBooks(t *testing.T) {
	t.Parallel()
	fee := moneyRow{Kind: "fee", Status: "succeeded", Secured: true, DepositStatus: active, Amount: 1750}
	collected := moneyRow{Kind: "collection", Status: "succeeded", Secured: true, DepositStatus: captured, Amount: 50_000}
	unsecured, voided, kept := fee, fee, collected
	unsecured.Secured, unsecured.DepositStatus, kept.DepositStatus = false, cancelled, closed
	voided.Secured, voided.DepositStatus, voided.Status = false, cancelled, "voided"
	for name, c := range map[string]struct {
		row  moneyRow
		book stripetest.ChargeTotals
		want string // "": nothing is wrong
	}{
		"a fee":               {fee, stripetest.ChargeTotals{Charges: 1, Taken: 1750, Kept: 1750}, ""},
		"a collection":        {collected, stripetest.ChargeTotals{Charges: 1, Taken: 50_000, Kept: 50_000}, ""},
		"not paid":            {voided, stripetest.ChargeTotals{}, ""},
		"refunded":            {voided, stripetest.ChargeTotals{Charges: 1, Taken: 1750}, ""},
		"charged twice":       {fee, stripetest.ChargeTotals{Charges: 2, Taken: 3500, Kept: 3500}, "it was charged 2 times"},
		"never charged":       {fee, stripetest.ChargeTotals{}, "has charged 0"},
		"another amount":      {fee, stripetest.ChargeTotals{Charges: 1, Taken: 1, Kept: 1}, "has charged 1"},
		"paid and voided":     {voided, stripetest.ChargeTotals{Charges: 1, Taken: 1750, Kept: 1750}, "kept 1750"},
		"paid for nothing":    {unsecured, stripetest.ChargeTotals{Charges: 1, Taken: 1750, Kept: 1750}, "neither secures"},
		"kept a part of it":   {unsecured, stripetest.ChargeTotals{Charges: 1, Taken: 1750, Kept: 50}, "neither secures"},
		"charged, and closed": {kept, stripetest.ChargeTotals{Charges: 1, Taken: 50_000, Kept: 50_000}, "not captured"},
	} {
		wrong := ""
		c.row.judge(c.book, map[string]int{}, func(_, format string, args ...any) { wrong += fmt.Sprintf(format, args...) })
		require.Equal(t, c.want == "", wrong == "", name)
		require.Contains(t, wrong, c.want, name)
	}
}

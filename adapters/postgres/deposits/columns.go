package deposits

import (
	"encoding/json"
	"slices"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// newDeposit is a deposit to insert into the table deposits, with the hash and the ciphertext of its checkout
// token.
type newDeposit struct {
	*deposit.Deposit
	tokenHash, sealedToken []byte
}

// depositColumn is a column of the table deposits. field is nil for a column that no field holds.
type depositColumn struct {
	sets.Column[newDeposit]
	field func(*deposit.Deposit) any
}

// plain describes a column of the table deposits that is written and read with the Go type of its field.
func plain[V any](name, array string, field func(*deposit.Deposit) *V) depositColumn {
	return depositColumn{
		Column: sets.Column[newDeposit]{Name: name, Array: array,
			Values: sets.ColumnValuesFunc(func(d newDeposit) V { return *field(d.Deposit) })},
		field: func(d *deposit.Deposit) any { return field(d) },
	}
}

// writtenAs describes a column of the table deposits that is read as a V and written as a W, for which pgx has
// an array type.
func writtenAs[W, V any](name, array string, field func(*deposit.Deposit) *V, write func(V) W) depositColumn {
	return depositColumn{
		Column: sets.Column[newDeposit]{Name: name, Array: array,
			Values: sets.ColumnValuesFunc(func(d newDeposit) W { return write(*field(d.Deposit)) })},
		field: func(d *deposit.Deposit) any { return field(d) },
	}
}

var depositColumns = []depositColumn{
	plain("id", "uuid[]", func(d *deposit.Deposit) *id.ID { return &d.ID }),
	plain("reference", "text[]", func(d *deposit.Deposit) *string { return &d.Reference }),
	writtenAs("status", "text[]", func(d *deposit.Deposit) *deposit.Status { return &d.Status },
		func(v deposit.Status) string { return string(v) }),
	plain("status_reason", "text[]", func(d *deposit.Deposit) *string { return &d.StatusReason }),
	writtenAs("version", "int[]", func(d *deposit.Deposit) *int { return &d.Version },
		func(v int) int32 { return int32(v) }),
	plain("account_id", "uuid[]", func(d *deposit.Deposit) *id.ID { return &d.AccountID }),
	plain("partner_id", "uuid[]", func(d *deposit.Deposit) *id.ID { return &d.PartnerID }),
	plain("by_partner_api", "bool[]", func(d *deposit.Deposit) *bool { return &d.ByPartnerAPI }),
	plain("external_id", "text[]", func(d *deposit.Deposit) *string { return &d.ExternalID }),
	plain("client_id", "uuid[]", func(d *deposit.Deposit) *id.ID { return &d.ClientID }),
	writtenAs("amount_cents", "bigint[]", func(d *deposit.Deposit) *money.Cents { return &d.Amount },
		func(v money.Cents) int64 { return int64(v) }),
	writtenAs("captured_cents", "bigint[]", func(d *deposit.Deposit) *money.Cents { return &d.CapturedAmount },
		func(v money.Cents) int64 { return int64(v) }),
	plain("contract_start_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ContractStartAt }),
	plain("contract_end_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ContractEndAt }),
	plain("rental_contract", "text[]", func(d *deposit.Deposit) *string { return &d.RentalContract }),
	plain("return_url", "text[]", func(d *deposit.Deposit) *string { return &d.ReturnURL }),
	plain("url_generation", "bool[]", func(d *deposit.Deposit) *bool { return &d.URLGeneration }),
	{
		Column: sets.Column[newDeposit]{Name: "metadata", Array: "text[]", Cast: "::jsonb",
			Values: sets.ColumnValuesFunc(func(d newDeposit) string { return *jsonText(orEmpty(d.Metadata)) })},
		field: func(d *deposit.Deposit) any { return &d.Metadata },
	},
	plain("locale", "text[]", func(d *deposit.Deposit) *string { return &d.Locale }),
	{Column: sets.Column[newDeposit]{Name: "checkout_token_hash", Array: "bytea[]",
		Values: sets.ColumnValuesFunc(func(d newDeposit) []byte { return d.tokenHash })}},
	{Column: sets.Column[newDeposit]{Name: "checkout_token", Array: "bytea[]",
		Values: sets.ColumnValuesFunc(func(d newDeposit) []byte { return d.sealedToken })}},
	plain("checkout_expires_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CheckoutExpiresAt }),
	plain("checkout_started_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CheckoutStartedAt }),
	plain("activated_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ActivatedAt }),
	plain("expires_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ExpiresAt }),
	plain("cancelled_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CancelledAt }),
	plain("closed_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ClosedAt }),
	plain("captured_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CapturedAt }),
	plain("created_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CreatedAt }),
	plain("updated_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.UpdatedAt }),
}

var insertedColumns = pg.ConvertEach(depositColumns, func(c depositColumn) sets.Column[newDeposit] { return c.Column })

// freshValues maps the columns whose values are alike in all new deposits (deposit.New) to their SQL, which
// saves arrays.
var freshValues = map[string]string{
	"status": "'pending'", "status_reason": "''", "version": "1", "captured_cents": "0", "checkout_started_at": "NULL",
	"activated_at": "NULL",
	"expires_at":   "NULL", "cancelled_at": "NULL", "closed_at": "NULL", "captured_at": "NULL",
	"updated_at": "n.created_at",
}

// isFresh reports whether a deposit is as deposit.New makes it, so that freshValues are the values of its
// columns.
func isFresh(d *deposit.Deposit) bool {
	return d.Status == deposit.Pending && d.StatusReason == "" && d.Version == 1 && d.CapturedAmount == 0 &&
		d.CheckoutStartedAt.IsZero() &&
		d.ActivatedAt.IsZero() && d.ExpiresAt.IsZero() && d.CancelledAt.IsZero() && d.ClosedAt.IsZero() &&
		d.CapturedAt.IsZero() && d.UpdatedAt.Equal(d.CreatedAt)
}

// variedColumns lists the columns of the table deposits whose values differ between new deposits.
var variedColumns = slices.DeleteFunc(slices.Clone(insertedColumns),
	func(c sets.Column[newDeposit]) bool { return freshValues[c.Name] != "" })

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// jsonText encodes a map as JSON for a column; nil becomes NULL.
func jsonText(m map[string]string) *string {
	if m == nil {
		return nil
	}
	b, _ := json.Marshal(m)
	s := string(b)
	return &s
}

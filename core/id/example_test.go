package id_test

import (
	"fmt"

	"partnerdeposits/core/id"
)

// Callers see the outside form: a prefix and 26 characters, which sort like the ids themselves.
func ExamplePrefix_Of() {
	internal := id.ID{0x01, 0x9f, 0x1d, 0xa3, 0x6c, 0x00, 0x70, 0x00, 0x80, 15: 7}
	fmt.Println(internal)
	fmt.Println(id.Deposit.Of(internal))
	fmt.Println(internal.Time().Format("2006-01-02"))
	// Output:
	// 019f1da3-6c00-7000-8000-000000000007
	// dep_01kwet6v00e008000000000007
	// 2026-07-01
}

// A text that Of never gives is an unknown id. The prefix counts too: the id of a deposit is no id of a client.
func ExamplePrefix_Parse() {
	outside := id.Deposit.Of(id.ID{15: 7})
	_, ok := id.Deposit.Parse(outside)
	_, asClient := id.Client.Parse(outside)
	_, short := id.Deposit.Parse("dep_7")
	fmt.Println(ok, asClient, short)
	// Output: true false false
}

package money_test

import (
	"fmt"

	"partnerdeposits/core/money"
)

// Numbers are compared by value, so all spellings of an amount are equal. No amount passes through a float.
func ExampleParseEuros() {
	for _, number := range []string{"70", "70.000", "7e1", "2500.01", "69.999", `"70"`} {
		cents, err := money.ParseEuros(number)
		if err != nil {
			fmt.Printf("%s: %v\n", number, err)
			continue
		}
		fmt.Printf("%s: %d cents\n", number, cents)
	}
	// Output:
	// 70: 7000 cents
	// 70.000: 7000 cents
	// 7e1: 7000 cents
	// 2500.01: 250001 cents
	// 69.999: money: not a whole number of cents
	// "70": money: not a JSON number
}

// Messages show two decimals; JSON shows the shortest number.
func ExampleCents_AppendEuros() {
	amount := money.Cents(7_050)
	fmt.Println(amount, string(amount.AppendEuros(nil)))
	// Output: 70.50 70.5
}

// Half a cent is rounded to the even cent, so errors do not add up.
func ExampleCents_ShareInBasisPoints() {
	fmt.Println(money.Cents(50_000).ShareInBasisPoints(350), money.Cents(5).ShareInBasisPoints(5_000),
		money.Cents(7).ShareInBasisPoints(5_000))
	// Output: 17.50 0.02 0.04
}

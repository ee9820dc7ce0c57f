package stripetest

// customer is a customer in the fake of Stripe, with saved cards.
type customer struct{ base }

// json returns the JSON of a customer's deletion.
func (c *customer) json(*Fake, expansions) map[string]any {
	return map[string]any{"id": c.id, "object": "customer", "deleted": true}
}

// method is a payment method in the fake of Stripe: a card's behaviour, without its data.
type method struct {
	base
	card     card
	email    string
	customer *customer
}

func (m *method) json(*Fake, expansions) map[string]any { return map[string]any{"id": m.id} }

// deleteCustomer deletes a customer and detaches its cards.
func (f *Fake) deleteCustomer(c *customer, _ call) (any, *apiError) {
	delete(f.customers.byID, c.id)
	for _, m := range f.methods.all {
		if m.customer == c {
			m.customer, m.email = nil, ""
		}
	}
	return c, nil
}

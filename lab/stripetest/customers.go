package stripetest

// customer keeps cards.
type customer struct{ base }

// json is the answer to the deletion.
func (c *customer) json(*Fake, expansions) map[string]any {
	return map[string]any{"id": c.id, "object": "customer", "deleted": true}
}

// method is a card, without its data.
type method struct {
	base
	card     card
	email    string
	customer *customer
}

func (m *method) json(*Fake, expansions) map[string]any { return map[string]any{"id": m.id} }

// deleteCustomer forgets a customer and its cards. A second call finds nothing.
func (f *Fake) deleteCustomer(c *customer, _ call) (any, *apiError) {
	delete(f.customers.byID, c.id)
	for _, m := range f.methods.all {
		if m.customer == c {
			m.customer, m.email = nil, ""
		}
	}
	return c, nil
}

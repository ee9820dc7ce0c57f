package stripetest

// customer keeps cards.
type customer struct {
	base
	email   string
	deleted bool
}

func (c *customer) json(*Fake, expansions) map[string]any {
	if c.deleted {
		return map[string]any{"id": c.id, "object": "customer", "deleted": true}
	}
	return map[string]any{"id": c.id, "object": "customer", "email": orNil(c.email), "created": c.created,
		"livemode": false, "metadata": map[string]string{}}
}

// method is a card, without its data.
type method struct {
	base
	card     card
	email    string
	customer *customer
	setUp    bool // the tenant authenticated when the card was saved
}

func (m *method) json(f *Fake, _ expansions) map[string]any {
	return map[string]any{
		"id": m.id, "object": "payment_method", "type": "card", "created": m.created, "livemode": false,
		"customer": shown(f, m.customer, "customer", nil), "billing_details": map[string]any{"email": orNil(m.email)},
		"card": map[string]any{"brand": "visa", "last4": m.card.last4}, "metadata": map[string]string{},
	}
}

func (f *Fake) liveCustomer(id string) (*customer, *apiError) {
	c, err := f.customers.find(id)
	if err == nil && c.deleted {
		return nil, missing(id)
	}
	return c, err
}

// deleteCustomer forgets a customer and its cards. A second call finds nothing.
func (f *Fake) deleteCustomer(c *customer, _ call) (any, *apiError) {
	if c.deleted {
		return nil, missing(c.id)
	}
	c.deleted, c.email = true, ""
	for _, m := range f.methods.all {
		if m.customer == c {
			m.customer, m.email = nil, ""
		}
	}
	return c, nil
}

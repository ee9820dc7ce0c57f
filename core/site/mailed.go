package site

// MailQueryParam is the query parameter of a checkout URL that identifies the mail through which the reader came.
const MailQueryParam = "mail"

// MailedCheckoutURL returns the checkout URL with the mark of a mail; the plain URL if the mark is "".
func MailedCheckoutURL(checkout, mark string) string {
	if mark == "" {
		return checkout
	}
	return checkout + "?" + MailQueryParam + "=" + mark
}

package site

// MailQueryParam is the query parameter of a checkout URL in a mail that identifies the mail through which the reader
// came.
const MailQueryParam = "mail"

// MailedCheckoutURL returns the checkout URL for a mail, with the mark that identifies the mail; the plain URL if the
// mark is "".
func MailedCheckoutURL(checkout, mark string) string {
	if mark == "" {
		return checkout
	}
	return checkout + "?" + MailQueryParam + "=" + mark
}

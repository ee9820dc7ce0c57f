package site

// QueryMail is the query parameter of a checkout URL in a mail that identifies the mail through which the reader
// came.
const QueryMail = "mail"

// MailedURL returns the checkout URL for a mail, with the mark that identifies the mail; the plain URL if the mark
// is "".
func MailedURL(checkout, mark string) string {
	if mark == "" {
		return checkout
	}
	return checkout + "?" + QueryMail + "=" + mark
}

package site

// QueryMail is the parameter of a mailed checkout URL that tells from which mail its reader comes.
const QueryMail = "mail"

// MailedURL is the checkout URL in a mail with that mark; "": without one.
func MailedURL(checkout, mark string) string {
	if mark == "" {
		return checkout
	}
	return checkout + "?" + QueryMail + "=" + mark
}

package webhook

// reasonComputed is the reason in explanations of a signature that the receiver computed.
const reasonComputed = "computed"

// reasons holds an explanation's first sentence, in the words of the client libraries.
var reasons = map[SignatureCause]string{
	CauseNoHeader:          "X-Svc-Signature or X-Svc-Timestamp is missing.",
	CauseMalformedHeader:   "X-Svc-Signature or X-Svc-Timestamp is not in the form that we send.",
	CauseTimestampExpired:  "The timestamp is outside the tolerance.",
	CauseSignatureMismatch: "The signature does not match.",
	CauseInvalidJSON:       "The body is not a JSON object.",
	reasonComputed:         "The receiver computed another signature.",
}

// hints holds an explanation's second sentence. Those up to CauseWrongSigningOrder are in the words of the client
// libraries.
var hints = map[SignatureCause]string{
	CauseStaleTimestamp:       "It is in the past: check this server's clock, and that the request is not a replay.",
	CauseFutureTimestamp:      "It is in the future: check this server's clock.",
	CauseMillisecondTimestamp: "It is in milliseconds: X-Svc-Timestamp is Unix seconds.",
	CauseBodyReserialized:     "The body was parsed and written again: pass the raw body.",
	CauseBodyChanged:          "The body is not what was sent: pass the raw body, unread and unchanged.",
	CauseWrongSecretKind:      "The secret is not a signing secret (svc_whsec_…).",
	CauseSecretWhitespace:     "The secret has white space around it.",
	CauseBase64Signature:      "The signature is base64: it must be lower-case hex.",
	CauseUpperCaseSignature:   "The signature is in upper case: it must be lower-case hex.",
	CauseUnprefixedSignature:  "The prefix sha256= is missing.",
	CauseWrongSigningOrder:    "The signed message is in another order: it is <timestamp>.<raw body>.",

	CauseHeaderChanged: "The body is that of the delivery, so X-Svc-Signature or X-Svc-Timestamp was changed on the way, " +
		"or the secret was rotated after the delivery was signed.",
	CauseSignatureMismatch: "It is not what the known mistakes give: compare the secret, the timestamp and the raw body.",
}

// Further sentences of an explanation, for a secret of the wrong kind.
const (
	asConnectSecret = "It is your connect secret."
	asAPIKey        = "It is the API key of this request."
	withoutPrefix   = "It is without its prefix: the key is the whole text, svc_whsec_ included."
	inQuotes        = "It is in quotes: the key is what stands between them."
	asStandard      = "It is the form for Standard Webhooks libraries: our own signature takes the secret as it was shown."
)

// wordsOf returns the sentences for the reason, the cause and the detail of an explanation.
func wordsOf(reason, cause SignatureCause, detail string) string {
	switch cause {
	case CauseValid:
		return "The signature is valid for this timestamp and this body. If your receiver refuses it, send what it computes " +
			"as computed, and check that it compares whole strings."
	case CauseStaleTimestamp:
		return reasons[reason] + " The signature matches, and the timestamp is in the past, as that of each delivery which is " +
			"explained later than it came. If your receiver refused it at once, check that server's clock."
	case CauseSignatureMismatch:
		if detail != "" {
			return reasons[reason] + " " + detail
		}
	}
	message := reasons[reason]
	for _, more := range []string{hints[cause], detail} {
		if more != "" {
			message += " " + more
		}
	}
	return message
}

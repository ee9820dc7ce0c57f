package deposit

// Reasons that a partner may give for a change; the history keeps the reason (api.md §2).
var (
	CancelReasons  = []string{"booking_cancelled", "duplicate", "other"}
	CaptureReasons = []string{"damage", "cleaning", "missing_items", "unpaid_charges", "other"}
)

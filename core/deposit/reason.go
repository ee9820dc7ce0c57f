package deposit

// The reasons that a partner may give when it cancels or captures a deposit (api.md §2).
var (
	CancelReasons  = []string{"booking_cancelled", "duplicate", "other"}
	CaptureReasons = []string{"damage", "cleaning", "missing_items", "unpaid_charges", "other"}
)

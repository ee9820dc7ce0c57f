package fault

import "time"

// Faults with which any request can end.
var (
	ErrInternal    = New(Internal, "internal_error", "Something went wrong on our side. Quote the request id to support.")
	ErrUnavailable = New(Unavailable, "service_unavailable",
		"The service is temporarily unavailable. Please retry shortly.").WithRetryAfter(time.Second)
	ErrInvalidJSON          = New(Invalid, "invalid_json", "The request body is not valid JSON.")
	ErrUnknownField         = New(Invalid, "unknown_field", "A field is unknown.")
	ErrMissingField         = New(Invalid, "missing_field", "A required field is missing.")
	ErrInvalidField         = New(Invalid, "invalid_field", "A field is invalid.")
	ErrBadCursor            = New(Invalid, "invalid_cursor", "cursor: is not one that this list gave out.")
	ErrRouteNotFound        = New(NotFound, "route_not_found", "There is no such route.")
	ErrMethodNotAllowed     = New(MethodNotAllowed, "method_not_allowed", "This route does not accept that method.")
	ErrPayloadTooLarge      = New(TooLarge, "payload_too_large", "The request is larger than 64 KiB.")
	ErrUnsupportedMediaType = New(UnsupportedMediaType, "unsupported_media_type",
		"Send the body as application/json, without a content encoding.")
	ErrRateLimited = New(RateLimited, "rate_limited",
		"Too many requests. Slow down and retry after the time given in Retry-After.")
)

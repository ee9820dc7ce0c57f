//go:build !broken_notice_believed

package wire

import "partnerdeposits/ports"

// noticeReader reads the payment provider's notices. Under the tag broken_notice_believed another file replaces the reader, so that the
// fault suite can show that it notices (docs/guides/faults.md).
func noticeReader(_ Stores, p ports.PaymentNotices) ports.PaymentNotices { return p }

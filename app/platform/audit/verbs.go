package audit

// Verb is what an actor did: the action of an audit entry. The text is stored, so a verb keeps its text for
// good.
type Verb string

// The verbs of the audit log about partners and clients.
const (
	PartnerCreate       Verb = "partner.create"
	PartnerUpdate       Verb = "partner.update"
	PartnerSetRateLimit Verb = "partner.rate_limit"
	APIKeyCreate        Verb = "api_key.create"
	APIKeyRevoke        Verb = "api_key.revoke"
	ConnectSecretRotate Verb = "connect_secret.rotate"
	ConnectSecretClear  Verb = "connect_secret.clear"
	ClientUpdate        Verb = "client.update"
	ClientErase         Verb = "client.erase"
	// The verb for the deletion of an erased client's data at the payment provider.
	ClientEraseCard Verb = "client.forget_card"
)

// The verbs of the audit log about accounts and their operators.
const (
	AccountRename            Verb = "account.rename"
	AccountChangeContact     Verb = "account.change_contact"
	AccountChangeTimezone    Verb = "account.change_zone"
	AccountSetDepositCeiling Verb = "account.ceiling"
	LinkCreate               Verb = "link.create"
	LinkRevoke               Verb = "link.revoke"
	OperatorVerifyEmail      Verb = "operator.verify_email"
	// The verb for a password reset that was the first proof of the operator's address.
	OperatorProveEmail         Verb = "operator.first_proof"
	OperatorChangePassword     Verb = "operator.change_password"
	OperatorRequestEmailChange Verb = "operator.change_email_asked"
	OperatorChangeEmail        Verb = "operator.change_email"
	OperatorMailPasswordReset  Verb = "operator.reset"
	OperatorEndSession         Verb = "operator.end_session"
	OperatorEndSessions        Verb = "operator.end_sessions"
	OperatorEnableTOTP         Verb = "operator.enable_totp"
	OperatorDisableTOTP        Verb = "operator.disable_totp"
	OperatorResetTOTP          Verb = "operator.reset_totp"
	OperatorNewRecoveryCodes   Verb = "operator.new_recovery_codes"
	OperatorUseRecoveryCode    Verb = "operator.use_recovery_code"
)

// The verbs of the audit log about deposits.
const (
	DepositCreate   Verb = "deposit.create"
	DepositSendLink Verb = "deposit.send_link"
	DepositRemind   Verb = "deposit.remind" // The verb for another mail with the link to pay a debt.
	DepositAddFiles Verb = "deposit.add_files"
	// This verb is written only by the database function erase_deposit_text.
	DepositEraseText  Verb = "deposit.erase_text"
	DepositEraseFiles Verb = "deposit.erase_files"
)

// The verbs of the audit log about payments.
const (
	CollectionRetry            Verb = "collection.retry"
	CollectionCancel           Verb = "collection.cancel"
	CollectionRefund           Verb = "collection.refund"
	CollectionSettledElsewhere Verb = "collection.settled_elsewhere"
	CollectionWithdraw         Verb = "collection.withdraw"
	PaymentCollectionFailed    Verb = "payment.collection_failed"
	PaymentRefundFailed        Verb = "payment.refund_failed"
	PaymentOrphaned            Verb = "payment.orphaned"
	PaymentDispute             Verb = "payment.dispute"
)

// The verbs of the audit log about webhooks, and about the service as a whole.
const (
	WebhookCreate       Verb = "webhook.create"
	WebhookUpdate       Verb = "webhook.update"
	WebhookDelete       Verb = "webhook.delete"
	WebhookRotateSecret Verb = "webhook.rotate_secret"
	WebhookRedeliver    Verb = "webhook.redeliver"
	WebhookReplay       Verb = "webhook.replay"
	WebhookProbe        Verb = "webhook.probe"
	OutboxRetry         Verb = "outbox.retry"
	OutboxDrop          Verb = "outbox.drop"
	RestoreFinish       Verb = "restore.finish"
)

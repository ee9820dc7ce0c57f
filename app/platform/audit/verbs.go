package audit

// Action is the verb of an audit entry; the text is stored, so it never changes.
type Action string

// Audit verbs about partners and clients.
const (
	PartnerCreate       Action = "partner.create"
	PartnerUpdate       Action = "partner.update"
	PartnerSetRateLimit Action = "partner.rate_limit"
	APIKeyCreate        Action = "api_key.create"
	APIKeyRevoke        Action = "api_key.revoke"
	ConnectSecretRotate Action = "connect_secret.rotate"
	ConnectSecretClear  Action = "connect_secret.clear"
	ClientUpdate        Action = "client.update"
	ClientErase         Action = "client.erase"
	// The verb for the deletion of an erased client's data at the payment provider.
	ClientEraseCard Action = "client.forget_card"
)

// Audit verbs about accounts and operators.
const (
	AccountRename            Action = "account.rename"
	AccountChangeContact     Action = "account.change_contact"
	AccountChangeTimezone    Action = "account.change_zone"
	AccountSetDepositCeiling Action = "account.ceiling"
	LinkCreate               Action = "link.create"
	LinkRevoke               Action = "link.revoke"
	OperatorVerifyEmail      Action = "operator.verify_email"
	// The verb for a password reset that first proved the operator's address.
	OperatorProveEmailByReset    Action = "operator.first_proof"
	OperatorChangePassword       Action = "operator.change_password"
	OperatorRequestEmailChange   Action = "operator.change_email_asked"
	OperatorChangeEmail          Action = "operator.change_email"
	OperatorMailPasswordReset    Action = "operator.reset"
	OperatorEndSession           Action = "operator.end_session"
	OperatorEndSessions          Action = "operator.end_sessions"
	OperatorEnableTOTP           Action = "operator.enable_totp"
	OperatorDisableTOTP          Action = "operator.disable_totp"
	OperatorResetTOTP            Action = "operator.reset_totp"
	OperatorReplaceRecoveryCodes Action = "operator.new_recovery_codes"
	OperatorUseRecoveryCode      Action = "operator.use_recovery_code"
)

// Audit verbs about deposits.
const (
	DepositCreate   Action = "deposit.create"
	DepositSendLink Action = "deposit.send_link"
	DepositRemind   Action = "deposit.remind" // The verb for another mail with the link to pay a debt.
	DepositAddFiles Action = "deposit.add_files"
	// This verb is written only by the database function erase_deposit_text.
	DepositEraseText  Action = "deposit.erase_text"
	DepositEraseFiles Action = "deposit.erase_files"
)

// Audit verbs about payments.
const (
	CollectionRetry            Action = "collection.retry"
	CollectionCancel           Action = "collection.cancel"
	CollectionRefund           Action = "collection.refund"
	CollectionSettledElsewhere Action = "collection.settled_elsewhere"
	CollectionWithdraw         Action = "collection.withdraw"
	PaymentCollectionFailed    Action = "payment.collection_failed"
	PaymentRefundFailed        Action = "payment.refund_failed"
	PaymentOrphaned            Action = "payment.orphaned"
	PaymentDispute             Action = "payment.dispute"
)

// Audit verbs about webhooks and the whole service.
const (
	WebhookCreate       Action = "webhook.create"
	WebhookUpdate       Action = "webhook.update"
	WebhookDelete       Action = "webhook.delete"
	WebhookRotateSecret Action = "webhook.rotate_secret"
	WebhookRedeliver    Action = "webhook.redeliver"
	WebhookReplay       Action = "webhook.replay"
	WebhookProbe        Action = "webhook.probe"
	OutboxRetry         Action = "outbox.retry"
	OutboxDrop          Action = "outbox.drop"
	RestoreFinish       Action = "restore.finish"
)

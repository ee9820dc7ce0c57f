package postgres_test

import "strings"

// owned are the tables of each module. A table is written by one module: TestTables_AreUsedByOthersAsListed compares
// the lists below with the SQL of the modules, and TestOwners_NameEveryTableAndTrigger with the schema.
var owned = map[string]string{
	"accounts": `account_links accounts code_tries half_sign_ins operator_networks operator_tokens operators
		password_requests recovery_codes second_factors sessions`,
	"deposits": `cover_mails deposit_agreements deposit_files deposit_timers deposit_transitions deposits
		file_chunks file_contents form_drafts open_deposits secured_notices`,
	"partners": `api_keys client_names clients partners sealed_addresses`,
	"payments": `collection_steps collections disputes payment_erasures payment_questions payments reconciliations
		refunds sandbox_payments sandbox_refunds stripe_attempts stripe_objects stripe_payments
		stripe_refunds tenant_notices`,
	"platform": `audit_log idempotency_keys key_checks mails outbox restore_epoch sent_links`,
	"webhooks": `deliveries delivery_attempts event_feeds events outbox_set_aside waiting_counts
		webhook_notice_mails webhook_notices webhook_replays webhook_subscriptions`,
}

// ownerOf gives the module of each table.
func ownerOf() map[string]string {
	owners := map[string]string{}
	for module, tables := range owned {
		for _, table := range strings.Fields(tables) {
			if owners[table] != "" {
				panic(table + " has two owners")
			}
			owners[table] = module
		}
	}
	return owners
}

// foreign is what a module reads or writes of another's tables, and why.
type foreign struct{ module, verb, tables, reason string }

var foreigners = []foreign{
	{"accounts", "reads", "cover_mails",
		"No: a column of `operators` has the name of that table."},
	{"deposits", "reads", "partners accounts account_links clients",
		"A deposit is read with the names of its partner, account and client, in one statement."},
	{"deposits", "reads", "client_names",
		"The operator's search finds deposits by the words of their client's name."},
	{"deposits", "reads", "operators payments",
		"A mail about a secured deposit says whom it reaches and the fee that was paid."},
	{"deposits", "reads", "audit_log",
		"The removal of words looks whether its entry was made."},
	{"partners", "reads", "account_links",
		"A list of clients shows those of linked accounts only."},
	{"partners", "reads", "deposits payments",
		"An erasure looks which deposits have not ended, and whether a card is kept."},
	{"partners", "writes", "mails payment_erasures",
		"An erasure removes the mails that wait for the person, and asks the provider to forget the card."},
	{"payments", "reads", "deposits accounts operators clients",
		"A dispute, and the sums of an account, are told with the deposit, its operator and its tenant."},
	{"webhooks", "reads", "deposit_transitions",
		"The events of a deposit are found by its history."},
	{"webhooks", "reads", "collections mails",
		"The backlog of the dispatcher counts everything that waits."},
	{"webhooks", "reads", "restore_epoch",
		"A feed tells its follower of a restore."},
	{"webhooks", "writes", "partners",
		"A row of a partner holds the pace of its replays, and a contact for mails about endpoints."},
	{"webhooks", "writes", "outbox",
		"The platform adds events to the outbox; the relay takes them off."},
}

// triggers keep a rule that no statement may forget, whichever module runs the statement.
var triggers = map[string]string{ // by name and table
	"audit_log_is_append_only on audit_log":              "Entries are neither changed nor removed.",
	"transitions_are_append_only on deposit_transitions": "History is neither changed nor removed.",
	"partners_stay on partners":                          "Others refer to a partner without a foreign key.",
	"partners_are_not_truncated on partners":             "Others refer to a partner without a foreign key.",
	"accounts_stay on accounts":                          "Others refer to an account without a foreign key.",
	"accounts_are_not_truncated on accounts":             "Others refer to an account without a foreign key.",
	"clients_stay on clients":                            "Others refer to a client without a foreign key.",
	"clients_are_not_truncated on clients":               "Others refer to a client without a foreign key.",
	"deposits_refer_to_a_client on deposits":             "A changed client of a deposit exists.",
	"deposits_refer_to_an_account on deposits":           "A changed account or partner of a deposit exists.",
	"partners_have_a_feed on partners":                   "A new partner gets a row of `event_feeds`.",
	"events_have_a_number on events":                     "An event that an older relay files gets its number.",
	"erased_clients_stay_erased on clients":              "An older binary writes no details into the record of an erased client.",
	"sealed_mails_need_a_new_dispatcher on mails":        "An older dispatcher sends no mail whose text is encrypted.",
	"clients_are_named on clients":                       "A new client gets its rows of `client_names`, also from an older binary.",
	"clients_are_renamed on clients":                     "They follow a change of the name; an erasure removes them.",
	"deposits_open on deposits":                          "A new deposit gets its row of `open_deposits`.",
	"deposits_move on deposits":                          "A transition moves the row of `open_deposits`.",
	"collections_move on payments":                       "The end of a collection removes the row of `open_deposits`.",
	"collections_refuse on collections":                  "The row of `open_deposits` tells whether the tenant has to pay.",
	"waiting_is_counted_on_insert on deliveries":         "`waiting_counts` follows the deliveries.",
	"waiting_is_counted_on_update on deliveries":         "`waiting_counts` follows the deliveries.",
	"waiting_is_counted_on_delete on deliveries":         "`waiting_counts` follows the deliveries.",
	"waiting_is_counted_on_truncate on deliveries":       "`waiting_counts` follows the deliveries.",
	"collections_begin on payments":                      "A collection gets its row of `collections`, also from an older binary.",
	"collections_end on payments":                        "A collection that an older binary settles ends its debt.",
}

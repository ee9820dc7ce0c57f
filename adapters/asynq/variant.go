//go:build !broken_asynq_retries

package asynq

import "github.com/hibiken/asynq"

// Postgres retries, the queue does not. The fault suite has a variant that does otherwise (docs/guides/faults.md).
const maxRetry = 0

var retryDelay asynq.RetryDelayFunc // asynq's own, of no use here

//go:build broken_asynq_retries

package asynq

import (
	"time"

	"github.com/hibiken/asynq"
)

const maxRetry = 25

func retryDelay(int, error, *asynq.Task) time.Duration { return time.Second }

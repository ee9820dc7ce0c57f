package wire

import (
	"github.com/jackc/pgx/v5"

	"partnerdeposits/cmd/internal/config"
)

func queryTracer(config.Config) pgx.QueryTracer { return nil }

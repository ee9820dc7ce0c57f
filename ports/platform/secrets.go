package platform

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ConnectSecrets reads the connect secret of a partner.
type ConnectSecrets interface {
	// ConnectSecret returns "" for a partner without a connect secret.
	ConnectSecret(ctx context.Context, partnerID id.ID) (secret.Text, error)
}

// SigningSecrets reads the present signing secrets of a partner.
type SigningSecrets interface {
	// SigningSecrets gives the secrets by subscription; deleted subscriptions have none.
	SigningSecrets(ctx context.Context, partnerID id.ID) (map[id.ID]secret.Text, error)
}

package platform

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ConnectSecrets finds the secret with which a partner signs its connect URLs.
type ConnectSecrets interface {
	// ConnectSecret returns "" for a partner without a connect secret.
	ConnectSecret(ctx context.Context, partnerID id.ID) (secret.Text, error)
}

// SigningSecrets finds the secrets with which deliveries to a partner are signed now.
type SigningSecrets interface {
	// SigningSecrets gives the signing secret of each subscription of a partner, without the deleted ones.
	SigningSecrets(ctx context.Context, partnerID id.ID) (map[id.ID]secret.Text, error)
}

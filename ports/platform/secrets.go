package platform

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ConnectSecretReader reads the secret with which a partner signs its connect URLs.
type ConnectSecretReader interface {
	ConnectSecret(ctx context.Context, partnerID id.ID) (secret.Text, error)
}

// SigningSecretReader reads the secrets with which the webhook deliveries to a partner are signed at present.
type SigningSecretReader interface {
	// SigningSecrets returns the signing secret of each subscription of a partner, except of deleted ones, by the
	// subscription's id.
	SigningSecrets(ctx context.Context, partnerID id.ID) (map[id.ID]secret.Text, error)
}

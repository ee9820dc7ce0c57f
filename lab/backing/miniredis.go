package backing

import (
	"context"

	"github.com/alicebob/miniredis/v2"
)

// startMiniredis is the sandbox's last resort: a Redis imitation in this process, without persistence.
func startMiniredis(context.Context, Options) (*Server, string, error) {
	mini := miniredis.NewMiniRedis()
	if err := mini.StartAddr("127.0.0.1:0"); err != nil {
		return nil, "", err
	}
	return &Server{url: redisURL(mini.Addr()), control: foreign{close: mini.Close}}, "miniredis inside this process", nil
}

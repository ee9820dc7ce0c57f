// Command release builds, verifies and pushes releases and images of the service, without a container daemon or
// base image (docs/guides/releasing.md).
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

const about = "Build the image and a release of the service, verify a release, and push it to a registry."

type commands struct {
	Image   imageCommand   `cmd:"" help:"Build the image for amd64 and arm64 as an OCI layout."`
	Release releaseCommand `cmd:"" help:"Build a release: binaries, image, chart, list of contents and changes."`
	Verify  verifyCommand  `cmd:"" help:"Verify signatures, checksums and image of a release, offline."`
	Push    pushCommand    `cmd:"" help:"Push the image of a release with its list of contents and its signature."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Hide the line that Helm logs for each symbolic link in a chart.
	slog.SetLogLoggerLevel(slog.LevelWarn)
	var cli commands
	parsed := kong.Parse(&cli, kong.Name("release"), kong.Description(about), kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// source is the source tree of a build, with version, commit and date.
type source struct {
	Root     string // The folder that contains the service's go.mod.
	Version  string // The version of the release without a leading v.
	Revision string // The commit, with "-dirty" for a changed source tree.
	Date     time.Time
}

// sourceFlags describe the source tree where Git does not: an archive of the source has no .git.
type sourceFlags struct {
	Root     string `help:"Root of the source." default:"../.." type:"existingdir"`
	Revision string `help:"The commit, where git cannot tell it."`
	Epoch    int64  `help:"Time of the build in seconds; else that of the commit." env:"SOURCE_DATE_EPOCH"`
}

const dirty = "-dirty"

// source returns the source tree; an empty version becomes 0.0.0 with time and commit.
func (f sourceFlags) source(ctx context.Context, version string) (source, error) {
	s := source{Root: f.Root, Version: version, Revision: f.Revision, Date: time.Unix(f.Epoch, 0).UTC()}
	if s.Revision == "" {
		commit, err := git(ctx, s.Root, "rev-parse", "--verify", "HEAD")
		if err != nil {
			return source{}, err
		}
		changes, err := git(ctx, s.Root, "status", "--porcelain")
		if err != nil {
			return source{}, err
		}
		s.Revision = commit
		if changes != "" {
			s.Revision += dirty
		}
	}
	if f.Epoch == 0 {
		seconds, err := git(ctx, s.Root, "log", "-1", "--format=%ct")
		if err != nil {
			return source{}, err
		}
		n, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			return source{}, fmt.Errorf("time of the commit: %w", err)
		}
		s.Date = time.Unix(n, 0).UTC()
	}
	commit, changed := strings.CutSuffix(s.Revision, dirty)
	s.Version = cmp.Or(s.Version, "0.0.0-"+s.Date.Format("20060102150405")+"-"+commit[:min(12, len(commit))])
	if changed && version == "" {
		s.Version += dirty
	}
	return s, nil
}

func git(ctx context.Context, root string, arguments ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, arguments...)...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s(without git, name the source by --revision and SOURCE_DATE_EPOCH)",
			arguments[0], exit.Stderr)
	}
	return strings.TrimSpace(string(output)), err
}

var (
	architectures = []string{"amd64", "arm64"}
	// The program names under which the service's single binary is installed.
	programs = []string{"http", "dispatcher", "admin"}
)

// build links the binary statically, without paths, times or users of the building machine.
func (s source) build(ctx context.Context, architecture, to string) error {
	const version = "partnerdeposits/process/version."
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", strings.Join([]string{
		"-s -w -buildid=", "-X", version + "Version=" + s.Version, "-X", version + "Revision=" + s.Revision,
		"-X", version + "Date=" + s.Date.Format(time.RFC3339),
	}, " "), "-o", to, "./cmd/partnerdeposits")
	command.Dir, command.Stderr = s.Root, os.Stderr
	// An empty value of a Go environment variable selects Go's default, whatever the environment of the build sets.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+architecture, "GOAMD64=v1",
		"GOARM64=v8.0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off", "PWD="+s.Root)
	if err := command.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", architecture, err)
	}
	return nil
}

// buildAll builds every architecture's binary into a new folder, which the caller removes, also after an error.
func (s source) buildAll(ctx context.Context) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "release"); err != nil {
		return "", err
	}
	for _, architecture := range architectures {
		if err := s.build(ctx, architecture, filepath.Join(folder, architecture)); err != nil {
			return folder, err
		}
	}
	return folder, nil
}

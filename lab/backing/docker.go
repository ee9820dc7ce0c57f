package backing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

// image is the image of a container: the given tag, or any local tag of the repository that is new enough.
type image struct {
	repository, tag string
	oldest          int // oldest major version that suits
}

func (i image) String() string { return i.repository + ":" + i.tag }

// suits tells whether a local image may replace the default image.
func (i image) suits(name string) bool {
	repository, tag, _ := strings.Cut(name, ":")
	if repository != i.repository {
		return false
	}
	if tag == "latest" || tag == "alpine" {
		return true
	}
	digits := strings.IndexFunc(tag+".", func(r rune) bool { return r < '0' || r > '9' })
	major, err := strconv.Atoi(tag[:digits])
	return err == nil && major >= i.oldest
}

// failureForgotten is the time during which a failed image is not tried again, so that the test binaries of a run do
// not wait in turn.
const failureForgotten = 10 * time.Minute

// fromDocker runs the server in a container that ends with this process.
func (s service) fromDocker(ctx context.Context, o Options) (*Server, string, error) {
	pool, err := o.machine.dockerPool(ctx)
	if err != nil {
		return nil, "", err
	}
	if o.machine.getenv(forcing) != "docker" && o.machine.failedLately(s.image) {
		return nil, "", fmt.Errorf("image %s could not be had or run within the last %s", s.image, failureForgotten)
	}
	name, err := s.findImage(ctx, o, pool)
	if err != nil {
		o.machine.rememberFailure(s.image)
		return nil, "", err
	}
	spec := s.container(o)
	c, err := startContainer(ctx, pool, name, spec)
	if err != nil {
		o.machine.rememberFailure(s.image)
		return nil, "", fmt.Errorf("a container of %s: %w", name, err)
	}
	return &Server{url: spec.url(c.hostPort), control: c}, fmt.Sprintf("Docker image %s, at %s", name, c.hostPort), nil
}

func (m *machine) dockerPool(ctx context.Context) (*dockertest.Pool, error) {
	pool, err := m.docker()
	if err != nil {
		return nil, fmt.Errorf("no Docker client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := pool.Client.PingWithContext(ctx); err != nil {
		return nil, errors.New("no Docker daemon answers")
	}
	return pool, nil
}

// findImage returns the name of a local image, and pulls the default image if necessary.
func (s service) findImage(ctx context.Context, o Options, pool *dockertest.Pool) (string, error) {
	name, here, err := s.localImage(ctx, pool)
	if err != nil || here {
		return name, err
	}
	return s.image.String(), s.pull(ctx, o, pool)
}

// localImage returns the name of an image that needs no pull: the default image, or else the last suitable name.
func (s service) localImage(ctx context.Context, pool *dockertest.Pool) (name string, here bool, err error) {
	listed, err := pool.Client.ListImages(docker.ListImagesOptions{Context: ctx})
	if err != nil {
		return "", false, fmt.Errorf("list images: %w", err)
	}
	for _, local := range listed {
		for _, tagged := range local.RepoTags {
			if tagged == s.image.String() {
				return tagged, true, nil
			}
			if s.image.suits(tagged) {
				name = max(name, tagged)
			}
		}
	}
	return name, name != "", nil
}

// pull fetches the image. A registry that does not answer costs seconds, once in a while. A slow registry gets more
// time only if no other source is left.
func (s service) pull(ctx context.Context, o Options, pool *dockertest.Pool) error {
	m := o.machine
	bound := m.pullBound
	if m.getenv(forcing) == "docker" || (!s.hasNative(m) && m.canInstall() != nil) {
		bound = 5 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	silence := time.AfterFunc(m.registryAnswers, cancel)
	defer silence.Stop()
	err := pool.Client.PullImage(docker.PullImageOptions{
		Context: ctx, Repository: s.image.repository, Tag: s.image.tag,
		OutputStream: writerFunc(func(p []byte) (int, error) { silence.Stop(); return len(p), nil }),
	}, docker.AuthConfiguration{})
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it did not arrive within %s", bound)
	case ctx.Err() != nil:
		err = errors.New("the registry does not answer")
	default:
		err = errors.New(lastPart(err.Error()))
	}
	return fmt.Errorf("image %s is not here and cannot be pulled: %w", s.image, err)
}

// lastPart is the text after the last ": ", the innermost cause of a nested error.
func lastPart(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), `"}`)
	if at := strings.LastIndex(text, ": "); at >= 0 {
		return text[at+2:]
	}
	return text
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (m *machine) failureMark(i image) string {
	return filepath.Join(m.cacheDir, "no-docker-"+i.repository+"-"+i.tag)
}

func (m *machine) failedLately(i image) bool {
	info, err := os.Stat(m.failureMark(i))
	return m.cacheDir != "" && err == nil && time.Since(info.ModTime()) < failureForgotten
}

func (m *machine) rememberFailure(i image) {
	if m.cacheDir != "" && os.MkdirAll(m.cacheDir, 0o700) == nil {
		_ = os.WriteFile(m.failureMark(i), nil, 0o600) // the mark only saves time
	}
}

// dockerHost is the address of published ports. local tells whether the daemon runs on this machine.
func dockerHost(endpoint string) (host string, local bool) {
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Scheme == "unix" || parsed.Hostname() == "" {
		return "127.0.0.1", true
	}
	return parsed.Hostname(), false
}

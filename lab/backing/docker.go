package backing

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"partnerdeposits/lab/procs"
)

// failureForgotten is how long a Docker image whose start failed is not tried again, so that not every test binary
// waits for it.
const failureForgotten = 10 * time.Minute

// fromDocker starts a server in a Docker container that ends with this process.
func (s service) fromDocker(ctx context.Context, o Options) (*Server, string, error) {
	pool, err := o.machine.dockerPool(ctx)
	if err != nil {
		return nil, "", err
	}
	mark, err := os.Stat(o.machine.failureMark(s.image))
	failedLately := err == nil && time.Since(mark.ModTime()) < failureForgotten
	if o.machine.getenv(forcing) != "docker" && failedLately {
		return nil, "", fmt.Errorf("image %s could not be had or run within the last %s", s.image, failureForgotten)
	}
	if _, err = pool.Client.InspectImage(s.image); errors.Is(err, docker.ErrNoSuchImage) {
		err = s.pull(ctx, o, pool)
	}
	spec := s.container(o)
	var c *containerServer
	if err == nil {
		if c, err = startContainer(ctx, pool, s.image, spec); err != nil {
			err = fmt.Errorf("a container of %s: %w", s.image, err)
		}
	}
	if err != nil {
		o.machine.rememberFailure(s.image)
		return nil, "", err
	}
	return &Server{url: spec.url(c.hostPort), control: c}, fmt.Sprintf("Docker image %s, at %s", s.image, c.hostPort), nil
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

// pull fetches a Docker image. It waits long for a slow registry only if no other source of a server is left.
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
	repository, tag, _ := strings.Cut(s.image, ":")
	err := pool.Client.PullImage(docker.PullImageOptions{
		Context: ctx, Repository: repository, Tag: tag,
		OutputStream: writerFunc(func(p []byte) (int, error) { silence.Stop(); return len(p), nil }),
	}, docker.AuthConfiguration{})
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it did not arrive within %s", bound)
	case ctx.Err() != nil:
		err = errors.New("the registry does not answer")
	}
	return fmt.Errorf("image %s is not here and cannot be pulled: %w", s.image, err)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (m *machine) failureMark(image string) string {
	return filepath.Join(m.cacheDir, "no-docker-"+image)
}

func (m *machine) rememberFailure(image string) {
	if os.MkdirAll(m.cacheDir, 0o700) == nil {
		// The mark of a failed Docker image only saves time, so a failed write is harmless.
		_ = os.WriteFile(m.failureMark(image), nil, 0o600)
	}
}

// dockerHost returns the host of published container ports; local reports whether Docker runs on this machine.
func dockerHost(endpoint string) (host string, local bool) {
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Scheme == "unix" || parsed.Hostname() == "" {
		return "127.0.0.1", true
	}
	return parsed.Hostname(), false
}

// supervisorScript is a container's first process: it runs the server, obeys orders on its standard input, a word
// per line, and ends the server when the input ends.
//
//go:embed supervisor.sh
var supervisorScript string

// containerSpec describes how a server runs in its official Docker image.
type containerSpec struct {
	port      docker.Port
	env, argv []string
	url       func(hostPort string) string
	ready     func(ctx context.Context, hostPort string) error
	// Signals that stop the server in the container, without "SIG".
	gentle, immediate string
}

// containerLimit bounds the wait for a server in a Docker container.
const containerLimit = 30 * time.Second

type containerServer struct {
	pool     *dockertest.Pool
	resource *docker.Container
	hostPort string
	spec     containerSpec
	orders   io.WriteCloser
	answers  *bufio.Scanner
	log      procs.OutputBuffer

	mu sync.Mutex
}

// startContainer starts a Docker container that ends with this process, and waits until its server answers.
func startContainer(ctx context.Context, pool *dockertest.Pool, imageName string,
	spec containerSpec) (*containerServer, error) {
	host, local := dockerHost(pool.Client.Endpoint())
	bind := docker.PortBinding{HostIP: "0.0.0.0"}
	if local {
		bind.HostIP = "127.0.0.1"
	}
	made, err := pool.Client.CreateContainer(docker.CreateContainerOptions{
		Context: ctx,
		Config: &docker.Config{
			Image:      imageName,
			Env:        spec.env,
			Entrypoint: append([]string{"sh", "-c", supervisorScript, "supervisor", spec.gentle, spec.immediate}, spec.argv...),
			// With StdinOnce, Docker closes the container's input as soon as this process closes its end of it.
			OpenStdin: true, StdinOnce: true,
			AttachStdin: true, AttachStdout: true, AttachStderr: true,
			ExposedPorts: map[docker.Port]struct{}{spec.port: {}},
			Labels:       map[string]string{"partnerdeposits.backing": "throw-away"},
		},
		HostConfig: &docker.HostConfig{
			AutoRemove:   true,
			PortBindings: map[docker.Port][]docker.PortBinding{spec.port: {bind}},
		},
	})
	if err != nil {
		return nil, err
	}
	c := &containerServer{pool: pool, resource: made, spec: spec, log: procs.OutputBuffer{Max: logTail}}
	for _, step := range []func() error{
		c.attach,
		func() error { return pool.Client.StartContainerWithContext(made.ID, nil, ctx) },
		func() error { return c.findPort(ctx, host, spec.port) },
		func() error { return c.await(ctx) },
	} {
		if err := step(); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// attach connects this process to the container's standard input before the start.
func (c *containerServer) attach() error {
	input, orders := io.Pipe()
	answers, output := io.Pipe()
	c.orders, c.answers = orders, bufio.NewScanner(answers)
	attached := make(chan struct{})
	waiter, err := c.pool.Client.AttachToContainerNonBlocking(docker.AttachToContainerOptions{
		Container: c.resource.ID, InputStream: input, OutputStream: output, ErrorStream: &c.log,
		Stdin: true, Stdout: true, Stderr: true, Stream: true, Success: attached,
	})
	if err != nil {
		return err
	}
	go func() {
		_ = output.CloseWithError(errors.Join(errors.New("the container has ended"), waiter.Wait()))
	}()
	select {
	case <-attached:
		attached <- struct{}{}
		return nil
	case <-time.After(10 * time.Second):
		return errors.New("the Docker daemon did not attach")
	}
}

// findPort waits until Docker has published the container's port.
func (c *containerServer) findPort(ctx context.Context, host string, port docker.Port) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return procs.AwaitCondition(ctx, nil, func() error {
		seen, err := c.pool.Client.InspectContainerWithContext(c.resource.ID, ctx)
		if err != nil {
			return err
		}
		if bound := seen.NetworkSettings.Ports[port]; len(bound) > 0 && bound[0].HostPort != "" {
			c.hostPort = net.JoinHostPort(host, bound[0].HostPort)
			return nil
		}
		return fmt.Errorf("port %s is not published", port)
	})
}

// await waits until the server in the container answers; the error holds the last failure.
func (c *containerServer) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, containerLimit)
	defer cancel()
	err := procs.AwaitCondition(ctx, nil, func() error {
		attempt, done := context.WithTimeout(ctx, 2*time.Second)
		defer done()
		return c.spec.ready(attempt, c.hostPort)
	})
	if err != nil {
		return fmt.Errorf("the server did not answer in time (%w); its log says:\n%s", err, c.log.String())
	}
	return nil
}

// order sends a word to the supervisor script in the container, and waits for its answer.
func (c *containerServer) order(word string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		_, err := fmt.Fprintln(c.orders, word)
		if err == nil && !c.answers.Scan() {
			err = errors.Join(errors.New("the supervisor is gone"), c.answers.Err())
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(stopLimit):
		return fmt.Errorf("the container's supervisor did not answer %q within %s", word, stopLimit)
	}
}

// Pid is 0: a server in a container is no child of this process.
func (c *containerServer) Pid() int { return 0 }

func (c *containerServer) Kill() error   { return c.order("kill") }
func (c *containerServer) Pause() error  { return c.order("pause") }
func (c *containerServer) Resume() error { return c.order("resume") }

func (c *containerServer) Stop(immediate bool) error {
	return c.order(map[bool]string{true: "immediate", false: "gentle"}[immediate])
}

func (c *containerServer) Restart(ctx context.Context) error {
	if err := c.Stop(false); err != nil {
		return err
	}
	if err := c.order("start"); err != nil {
		return err
	}
	return c.await(ctx)
}

func (c *containerServer) Close() error {
	err := c.pool.Client.RemoveContainer(
		docker.RemoveContainerOptions{ID: c.resource.ID, Force: true, RemoveVolumes: true})
	if c.orders != nil {
		_ = c.orders.Close()
	}
	var gone *docker.NoSuchContainer
	if errors.As(err, &gone) {
		return nil
	}
	return err
}

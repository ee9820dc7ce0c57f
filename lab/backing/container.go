package backing

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"partnerdeposits/lab/procs"
)

// supervisorScript is the first process of a container. It runs the server as the image's entrypoint does, and obeys
// orders on its standard input: a word per line, answered with a line. When the input ends, it ends the server; this
// process keeps the other end open.
const supervisorScript = `
gentle=$1 immediate=$2
shift 2
start() { docker-entrypoint.sh "$@" </dev/null >&2 & server=$!; }
start "$@"
while read -r order; do
	case $order in
	kill) kill -KILL -1; wait "$server" ;;
	gentle) kill "-$gentle" "$server"; kill -CONT -1; wait "$server" ;;
	immediate) kill "-$immediate" "$server"; kill -CONT -1; wait "$server" ;;
	start) start "$@" ;;
	pause) kill -STOP -1 ;;
	resume) kill -CONT -1 ;;
	esac
	echo "$order"
done
kill -KILL -1
`

// containerSpec describes how a server runs in its official image.
type containerSpec struct {
	port              docker.Port
	env, argv         []string
	url               func(hostPort string) string
	ready             func(ctx context.Context, hostPort string) error
	gentle, immediate string // signals, without SIG
}

// containerLimit bounds the wait for a server in a container, so that an unreachable container costs less than a
// minute.
const containerLimit = 30 * time.Second

// container is a server run in Docker under the supervisor.
type container struct {
	pool     *dockertest.Pool
	resource *docker.Container
	hostPort string
	ready    func(context.Context) error
	orders   io.WriteCloser
	answers  *bufio.Scanner
	log      procs.Buffer

	mu sync.Mutex
}

// startContainer creates and starts a container that ends with this process, and waits until the server answers.
func startContainer(ctx context.Context, pool *dockertest.Pool, imageName string, spec containerSpec) (*container, error) {
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
			OpenStdin:  true, StdinOnce: true, // with StdinOnce, closing our end closes the container's input
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
	c := &container{pool: pool, resource: made, log: procs.Buffer{Most: logTail}}
	c.ready = func(ctx context.Context) error { return spec.ready(ctx, c.hostPort) }
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

// attach connects to the container's standard input before any process runs in the container.
func (c *container) attach() error {
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

// findPort waits until the daemon has published the port.
func (c *container) findPort(ctx context.Context, host string, port docker.Port) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return await(ctx, nil, func() error {
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

// await waits until the server answers.
func (c *container) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, containerLimit)
	defer cancel()
	err := await(ctx, nil, func() error {
		attempt, done := context.WithTimeout(ctx, 2*time.Second)
		defer done()
		return c.ready(attempt)
	})
	if err != nil {
		return fmt.Errorf("the server did not answer in time (%w); its log says:\n%s", err, c.log.String())
	}
	return nil
}

// order sends a word to the supervisor and waits for the answer.
func (c *container) order(word string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		if _, err := fmt.Fprintln(c.orders, word); err != nil {
			done <- err
			return
		}
		if !c.answers.Scan() {
			done <- errors.Join(errors.New("the supervisor is gone"), c.answers.Err())
			return
		}
		done <- nil
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(stopLimit):
		return fmt.Errorf("the container's supervisor did not answer %q within %s", word, stopLimit)
	}
}

// Pid is 0: the server is a child of the Docker daemon.
func (c *container) Pid() int { return 0 }

func (c *container) Kill() error   { return c.order("kill") }
func (c *container) Pause() error  { return c.order("pause") }
func (c *container) Resume() error { return c.order("resume") }
func (c *container) Log() string   { return c.log.String() }

func (c *container) Stop(immediate bool) error {
	if immediate {
		return c.order("immediate")
	}
	return c.order("gentle")
}

func (c *container) Restart(ctx context.Context) error {
	if err := c.Stop(false); err != nil {
		return err
	}
	if err := c.order("start"); err != nil {
		return err
	}
	return c.await(ctx)
}

// Close removes the container and its data.
func (c *container) Close() error {
	err := c.pool.Client.RemoveContainer(docker.RemoveContainerOptions{ID: c.resource.ID, Force: true, RemoveVolumes: true})
	if c.orders != nil {
		_ = c.orders.Close()
	}
	var gone *docker.NoSuchContainer
	if errors.As(err, &gone) {
		return nil
	}
	return err
}

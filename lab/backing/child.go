package backing

import (
	"os/exec"
	"runtime"
	"syscall"
)

// child is a process that the kernel ends when this process ends.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed after the process has ended and was waited for
	err  error         // result of Wait; read after done
}

// startChild starts cmd. The kernel sends cmd the signal onDeath when this process ends in any way.
func startChild(cmd *exec.Cmd, onDeath syscall.Signal) (*child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// In a session of its own the child gets no Ctrl-C: this process stops its children in order.
	cmd.SysProcAttr.Setsid = true
	dieWithParent(cmd.SysProcAttr, onDeath)

	c := &child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the parent-death signal when the forking *thread* ends, so the thread is locked for the life
		// of the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		c.err = cmd.Wait()
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// runChild starts cmd like startChild and waits for its end.
func runChild(cmd *exec.Cmd) error {
	c, err := startChild(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	<-c.done
	return c.err
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) running() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

package backing

import (
	"os/exec"
	"runtime"
	"syscall"
)

// child is a process of ours that the kernel ends when we are gone.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the process has ended and was waited for
	err  error         // what Wait said; read after done
}

// startChild starts cmd so that the kernel sends it onDeath when this process ends in any way.
func startChild(cmd *exec.Cmd, onDeath syscall.Signal) (*child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// A session of its own: Ctrl-C reaches us alone, and we stop things in order.
	cmd.SysProcAttr.Setsid = true
	dieWithParent(cmd.SysProcAttr, onDeath)

	c := &child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The parent-death signal is sent when the *thread* that forked ends, so that thread is held until the child is gone.
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

package backing

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// cleanerScript waits for the end of its standard input, which comes with the end of this process, for any reason. Then
// it resumes suspended processes, so that they receive the kernel's signal, kills the remaining processes after two
// seconds, and removes the directory.
const cleanerScript = `
dir=$1 round=0
while read -r _; do :; done
while [ "$round" -lt 100 ]; do
	alive=
	for process in /proc/[0-9]*; do
		case $(readlink "$process/cwd") in
		"$dir" | "$dir"/*)
			alive=1
			[ "$round" -ge 20 ] && kill -KILL "${process#/proc/}"
			kill -CONT "${process#/proc/}"
			;;
		esac
	done
	[ -z "$alive" ] && break
	round=$((round + 1))
	sleep 0.1
done
rm -rf -- "$dir"
`

// cleaner is a small shell process that outlives this process and cleans up after a sudden end.
type cleaner struct {
	cmd *exec.Cmd
	tie io.WriteCloser // the only write end of the pipe: no child inherits the descriptor
}

func startCleaner(dir string) (*cleaner, error) {
	cmd := exec.Command("/bin/sh", "-c", cleanerScript, "cleaner", dir)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	tie, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &cleaner{cmd: cmd, tie: tie}, nil
}

// dismiss ends the cleaner without any action, after this process has cleaned up.
func (c *cleaner) dismiss() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	_ = c.tie.Close()
}

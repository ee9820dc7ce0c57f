package backing

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// guardScript waits for its standard input to end, which is this process's end however it came. It lets stopped
// processes go on, so that the signal they got from the kernel takes effect, kills what still runs after two
// seconds, and removes the directory.
const guardScript = `
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

// guard is a small shell that outlives us to clean up after a sudden end.
type guard struct {
	cmd *exec.Cmd
	tie io.WriteCloser // held open by this process alone: the descriptor is not inherited
}

func startGuard(dir string) (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "guard", dir)
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
	return &guard{cmd: cmd, tie: tie}, nil
}

// dismiss ends the guard without its doing anything: the directory was cleaned by us.
func (g *guard) dismiss() {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	_ = g.tie.Close()
}

package backing

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// fromApt installs the Debian package of a server, then starts its binary.
func (s service) fromApt(ctx context.Context, o Options) (*Server, string, error) {
	if s.hasNative(o.machine) {
		return nil, "", errors.New("nothing to install, the server is there")
	}
	if err := s.install(o); err != nil {
		return nil, "", err
	}
	server, how, err := s.native(ctx, o)
	return server, how + ", installed with apt-get", err
}

func (s service) install(o Options) error {
	if s.hasNative(o.machine) {
		return nil
	}
	if err := o.machine.canInstall(); err != nil {
		return err
	}
	o.Logf("services: no %s here: installing it with apt-get install %s (no system service is started)", s.name, s.debian)
	begin := time.Now()
	if err := o.machine.install(s.debian); err != nil {
		return fmt.Errorf("install %s: %w", s.debian, err)
	}
	o.Logf("services: installed %s in %.0f s", s.debian, time.Since(begin).Seconds())
	return nil
}

func (m *machine) canInstall() error {
	if _, err := m.lookPath("apt-get"); err != nil {
		return errors.New("there is no apt-get in PATH")
	}
	if _, err := m.lookPath("sudo"); err != nil && m.euid() != 0 {
		return errors.New("we are neither root nor is there sudo")
	}
	return nil
}

package node

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing/fstest"

	"partnerdeposits/lab/procs"
)

const pauseImage = "docker.io/library/pause:node"

// ImportImage loads an image into the node: an archive of `docker save`, or the folder of an OCI layout.
func (n *KubernetesNode) ImportImage(ctx context.Context, image string) error {
	archive := image
	if info, err := os.Stat(image); err != nil {
		return err
	} else if info.IsDir() {
		archive = n.file("layout.tar")
		if said, err := exec.CommandContext(ctx, "tar", "-C", image, "-cf", archive, ".").CombinedOutput(); err != nil {
			return fmt.Errorf("pack %s: %w: %s", image, err, said)
		}
	}
	_, err := n.ctr(ctx, "--namespace=k8s.io", "images", "import", "--snapshotter=native", archive)
	return err
}

func (n *KubernetesNode) ctr(ctx context.Context, args ...string) (string, error) {
	return procs.RunForOutput(ctx, procs.ProcessSpec{Name: "ctr", Path: "/usr/bin/ctr", Env: n.environ(),
		Args: append([]string{"--address=" + n.file("run/containerd.sock")}, args...)})
}

// importPause builds the pause image, whose process keeps a pod's namespaces alive, and loads it.
func (n *KubernetesNode) importPause(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", n.file("pause"),
		"partnerdeposits/lab/kube/node/pause")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build pause: %w: %s", err, said)
	}
	if err := WriteImageArchive(n.file("pause.tar"), pauseImage, n.file("pause")); err != nil {
		return err
	}
	return n.ImportImage(ctx, n.file("pause.tar"))
}

// WriteImageArchive writes an image of static programs in the format of `docker save`. The first program is the
// entry point.
func WriteImageArchive(to, image string, programs ...string) error {
	files := fstest.MapFS{}
	for _, program := range programs {
		content, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		files[filepath.Base(program)] = &fstest.MapFile{Data: content, Mode: 0o755}
	}
	layer, err := tarOf(files)
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/" + filepath.Base(programs[0])}, "User": "65532:65532"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{
		{"Config": "config.json", "RepoTags": []string{image}, "Layers": []string{"layer.tar"}},
	})
	if err != nil {
		return err
	}
	archive, err := tarOf(
		fstest.MapFS{"manifest.json": {Data: manifest}, "config.json": {Data: config}, "layer.tar": {Data: layer}})
	if err != nil {
		return err
	}
	return os.WriteFile(to, archive, 0o600)
}

func tarOf(files fs.FS) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := errors.Join(w.AddFS(files), w.Close())
	return out.Bytes(), err
}

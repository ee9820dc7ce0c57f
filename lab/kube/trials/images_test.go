//go:build kube

package trials

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"partnerdeposits/lab/kube/node"
)

// version is an image of the service, with a migration more than the tree has.
type version struct {
	tag       string
	migration string
}

const migrationName = "99001_trial.sql"

var (
	// present is the image of `make image`, whose folder KUBE_IMAGE names; importImages reads its tag.
	present version
	// next needs a lock on a busy table.
	next = version{"next", "-- +goose Up\nALTER TABLE deposits ADD COLUMN trial text;\n"}
	// broken fails in its migration, after a change that must not stay.
	broken = version{"broken", "-- +goose Up\nALTER TABLE deposits ADD COLUMN broken text;\nSELECT 1 / 0;\n"}

	changed = []version{next, broken}
)

// buildImages builds the images of changed versions, below a folder.
func buildImages(ctx context.Context, folder string) error {
	for _, v := range changed {
		if err := v.build(ctx, filepath.Join(folder, v.tag)); err != nil {
			return err
		}
	}
	return nil
}

// build builds the programs with the further migration laid over the tree.
func (v version) build(ctx context.Context, to string) error {
	root, err := filepath.Abs(repository)
	if err != nil {
		return err
	}
	if err = os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	file := filepath.Join(to, migrationName)
	if err = os.WriteFile(file, []byte(v.migration), 0o600); err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "adapters/postgres/migrations", migrationName): file,
	}})
	if err != nil {
		return err
	}
	if err = os.WriteFile(filepath.Join(to, "overlay.json"), overlay, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-overlay="+to+"/overlay.json",
		"-o", to+"/", "./cmd/http", "./cmd/dispatcher", "./cmd/admin")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", v.tag, err, said)
	}
	return node.WriteImageArchive(to+".tar", "docker.io/library/partnerdeposits:"+v.tag,
		to+"/http", to+"/dispatcher", to+"/admin")
}

// importImages gives the node all images.
func importImages(ctx context.Context, folder string) error {
	layout := os.Getenv("KUBE_IMAGE")
	text, err := os.ReadFile(filepath.Join(layout, "index.json"))
	if err != nil {
		return fmt.Errorf("KUBE_IMAGE: %w", err)
	}
	var index struct {
		Manifests []struct{ Annotations map[string]string }
	}
	if err = json.Unmarshal(text, &index); err != nil || len(index.Manifests) != 1 {
		return fmt.Errorf("%s is not the layout of a single image: %w", layout, err)
	}
	present.tag = index.Manifests[0].Annotations["org.opencontainers.image.ref.name"]
	if err := cluster.ImportImage(ctx, layout); err != nil {
		return err
	}
	for _, v := range changed {
		if err := cluster.ImportImage(ctx, filepath.Join(folder, v.tag+".tar")); err != nil {
			return err
		}
	}
	return nil
}

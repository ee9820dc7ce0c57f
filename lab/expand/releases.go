package expand

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// ServiceRelease is a release of the service, a line of releases.txt.
type ServiceRelease struct {
	Name     string
	Commit   string // Commit or tag of the release in Git.
	Migrated int64  // Number of the release's newest migration.
}

// ReadReleases reads releases.txt in the folder of the migrations. The last entry is the last release.
func ReadReleases(folder fs.FS) (all []ServiceRelease, err error) {
	err = lines(folder, "releases.txt", func(line string) error {
		var r ServiceRelease
		if _, err := fmt.Sscan(line, &r.Name, &r.Commit, &r.Migrated); err != nil {
			return fmt.Errorf("releases.txt: %q is no name, commit and number of a migration: %w", line, err)
		}
		all = append(all, r)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("releases.txt names no release")
	}
	return all, err
}

func ReadMigrations(folder fs.FS) (all []Migration, err error) {
	names, err := fs.Glob(folder, "*.sql")
	for _, name := range names {
		m := Migration{Name: name}
		if _, err := fmt.Sscanf(name, "%d_", &m.Number); err != nil {
			return nil, fmt.Errorf("%s: the name begins with no number: %w", name, err)
		}
		raw, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		m.SQL = string(raw)
		all = append(all, m)
	}
	return all, err
}

// CheckReleasedMigrationsUnchanged compares the migrations up to released with the checksums in released.sha256.
func CheckReleasedMigrationsUnchanged(folder fs.FS, released int64) (problems []MigrationProblem, err error) {
	sums := map[string]string{}
	err = lines(folder, "released.sha256", func(line string) error {
		sum, name, _ := strings.Cut(line, "  ")
		sums[name] = sum
		return nil
	})
	if err != nil {
		return nil, err
	}
	all, err := ReadMigrations(folder)
	for _, m := range all {
		sum := sha256.Sum256([]byte(m.SQL))
		recorded, known := sums[m.Name]
		delete(sums, m.Name)
		switch {
		case m.Number > released && known:
			problems = append(problems, MigrationProblem{m.Name, "", "released.sha256 has the migration, and releases.txt does not"})
		case m.Number <= released && !known:
			problems = append(problems, MigrationProblem{m.Name, "", fmt.Sprintf(
				"the numbers up to %d belong to releases: give the migration the next number after the newest", released)})
		case known && recorded != hex.EncodeToString(sum[:]):
			problems = append(problems, MigrationProblem{m.Name, "", "the migration is released, and databases have it as it was: " +
				"restore the file, and write a new migration for the change"})
		}
	}
	for name := range sums {
		problems = append(problems, MigrationProblem{name, "", "the migration is released and is missing: restore the file"})
	}
	slices.SortFunc(problems, func(a, b MigrationProblem) int { return strings.Compare(a.Migration, b.Migration) })
	return problems, err
}

// lines calls each with every line of a file that is neither empty nor a comment.
func lines(folder fs.FS, name string, each func(string) error) error {
	f, err := folder.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "#") {
			if err := each(line); err != nil {
				return err
			}
		}
	}
	return s.Err()
}

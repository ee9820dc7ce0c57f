package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// checkVersion returns an error unless a version can be the tag of an image and a chart.
func checkVersion(version string) error {
	parsed, err := semver.StrictNewVersion(version)
	if err != nil {
		return fmt.Errorf("VERSION %q: a semantic version is wanted, such as 1.2.3 or 1.3.0-rc.1", version)
	}
	if parsed.Metadata() != "" {
		return fmt.Errorf("VERSION %q: a tag of an image cannot hold a plus sign", version)
	}
	return nil
}

var section = regexp.MustCompile(`(?m)^## \[([^\]]+)\].*\n`)

const unreleased = "Unreleased"

// changesOf returns the changelog's section of a version, or [Unreleased] when it has none, and that name.
func changesOf(changelog, version string) (text, name string, err error) {
	sections := section.FindAllStringSubmatchIndex(changelog, -1)
	for _, name := range []string{version, unreleased} {
		for i, at := range sections {
			if changelog[at[2]:at[3]] != name {
				continue
			}
			end := len(changelog)
			if i+1 < len(sections) {
				end = sections[i+1][0]
			}
			if strings.TrimSpace(changelog[at[1]:end]) == "" {
				return "", "", fmt.Errorf("CHANGELOG.md: section [%s] is empty", name)
			}
			return strings.TrimSpace(changelog[at[0]:end]) + "\n", name, nil
		}
	}
	return "", "", errors.New("CHANGELOG.md has neither a section of the version nor [Unreleased]")
}

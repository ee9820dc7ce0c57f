package main

import (
	"fmt"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
)

// packageChart packages a Helm chart with a version, which is also its image's. The package depends on files and
// date alone: Helm writes the times of the loaded chart.
func packageChart(folder, to, version string, date time.Time) (string, error) {
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		return "", fmt.Errorf("chart %s: %w", folder, err)
	}
	loaded.Metadata.Version, loaded.Metadata.AppVersion = version, version
	setTimes(loaded, date)
	return util.Save(loaded, to)
}

func setTimes(c *chart.Chart, date time.Time) {
	c.ModTime, c.SchemaModTime = date, date
	for _, files := range [][]*common.File{c.Raw, c.Templates, c.Files} {
		for _, file := range files {
			file.ModTime = date
		}
	}
	for _, dependency := range c.Dependencies() {
		setTimes(dependency, date)
	}
}

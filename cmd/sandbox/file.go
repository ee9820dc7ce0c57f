package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// sandboxFile is the file in which scripts find the facts that the tour prints (operations.md, "Two commands"). It
// exists while the sandbox is ready.
const sandboxFile = ".local/sandbox.json"

func (d demo) writeFile(path string) error {
	const ownerOnly, ownerMayEnter = 0o600, 0o755
	content, err := json.MarshalIndent(struct {
		APIBaseURL           string `json:"apiBaseUrl"`
		DashboardBaseURL     string `json:"dashboardBaseUrl"`
		PartnerID            string `json:"partnerId"`
		PartnerSlug          string `json:"partnerSlug"`
		ConnectSecret        string `json:"connectSecret"`
		APIKey               string `json:"apiKey"`
		ConnectURL           string `json:"connectUrl"`
		ReceiverURL          string `json:"receiverUrl"`
		HTTPMetricsURL       string `json:"httpMetricsUrl"`
		DispatcherMetricsURL string `json:"dispatcherMetricsUrl"`
	}{
		d.apiBaseURL, d.dashboardBaseURL, d.partnerID, d.slug, d.connectSecret.Reveal(), d.apiKey.Reveal(),
		d.connectURL, d.receiverURL, d.httpMetrics, d.dispatcherStats,
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), ownerMayEnter); err != nil {
		return err
	}
	draft := path + ".tmp"
	if err := os.WriteFile(draft, append(content, '\n'), ownerOnly); err != nil {
		return err
	}
	return os.Rename(draft, path)
}

func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

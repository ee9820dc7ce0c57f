# `make` alone lists what there is. Every target does its own set-up.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

# scripts/tools.sh builds the pinned tools here on first use. They stand first in PATH, where `go generate` finds them.
TOOLS := $(CURDIR)/.local/bin
export PATH := $(TOOLS):$(PATH)

# Binaries of development carry no version control stamp: with a stamp, every commit links all binaries anew, and a build
# fails where git does not trust the owner of the checkout. `make build` stamps.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

# Run, tests and lint compile with the same flags, so that what one has compiled serves the others. Only the race detector
# needs cgo, and compiles anew.
export CGO_ENABLED ?= 0

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-zA-Z0-9_-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo

##@ Two commands to know

.PHONY: run
run: ## Run the whole service, seeded, with a demo partner; Ctrl-C ends it all
	@scripts/build-run.sh ./cmd/sandbox ./cmd/admin
	@exec bin/sandbox

.PHONY: test
test: ## Run the tests
	@scripts/test.sh

##@ While working

# The packages whose goroutines share memory: delivery and its queue, batches of changes, readers and requests, stores in
# Redis, guards of the payment provider, jobs by the clock, uploads, and the start and stop of processes.
export RACED := ./app/webhooks/... ./app/platform/schedules ./app/platform/idempotent ./app/payments ./ports/platform/... \
	./adapters/asynq ./adapters/files ./adapters/http/middleware ./adapters/metrics ./adapters/postgres/groupcommit \
	./adapters/postgres/webhooks/dispatchstore ./adapters/redis ./adapters/webhook ./process/run

.PHONY: check
check: ## Run every check of a change: all tests shuffled and anew, race detector, lint, generated code, words
	@scripts/check.sh

.PHONY: test-race
test-race: ## Run all tests with the race detector
	@scripts/test.sh -race -count=1

PART :=

.PHONY: test-long
test-long: ## Run the tests that need minutes, and print a table: alerts, failovers, faults, upgrades (88 minutes; PART=rolling for a part)
	@scripts/ensure-debian.sh curl haproxy pg_dump prometheus prometheus-alertmanager
	@lab/long/run.sh $(PART)

# The node needs root, and etcd, containerd, the plug-ins of CNI and iptables of the system. Its pods reach Postgres and
# Redis through this machine, where servers in containers may not be.
KUBE = scripts/ensure-debian.sh etcd containerd cni iptables && bin=$$(lab/kube/kubernetes/build.sh) && \
	$(MAKE) image && cd lab/kube && KUBE_BIN=$$bin KUBE_IMAGE=$(CURDIR)/dist/image go test -count=1 -v -tags=kube ./trials

.PHONY: test-kube
test-kube kube: export TEST_SERVICES ?= native
test-kube: ## Try the chart on a real Kubernetes, which the first run builds (Linux, root; docs/guides/kubernetes.md)
	@$(KUBE) -timeout=30m

.PHONY: kube
kube: export KUBE_HOLD := 1
kube: ## Run the Kubernetes of test-kube until Ctrl-C, to try things by hand (Linux, root)
	@$(KUBE) -timeout=0

.PHONY: dev
dev: ## As run, and rebuild and restart when a source file changes
	@scripts/tools.sh air
	@scripts/build-run.sh ./lab/dev ./cmd/sandbox ./cmd/admin
	@exec bin/dev

.PHONY: unit
unit: export TEST_SERVICES := none
unit: ## Test the rules, ports and use cases that need no server: seconds
	@go test -tags=unit ./core/... ./ports/... ./app/...

.PHONY: integration
integration: ## Test the use cases and adapters on real Postgres and Redis, and the pages in a browser
	@scripts/ensure-debian.sh chromium haproxy pgbouncer
	@go test ./app/... ./adapters/...

.PHONY: e2e
e2e: ## Test the processes, from outside
	@scripts/ensure-debian.sh curl haproxy pgbouncer pgbench
	@CI=true go test ./cmd/... ./process/... ./lab/...

.PHONY: test-sdk
test-sdk: ## Test the partners' libraries in PHP, Node, Python and Go against a real sandbox
	@CI=true go test -count=1 ./sdk/... ./lab/sdk

.PHONY: fuzz
fuzz: ## Run every fuzz target for a minute (FUZZTIME=10m for longer, FUZZ=Amount for some); `make test` runs their seeds
	@scripts/fuzz.sh

.PHONY: lint
lint: ## Check style, mistakes and who imports whom (.golangci.yml)
	@scripts/tools.sh golangci-lint
	@golangci-lint run ./...
	@cd lab/kube && GOFLAGS=-buildvcs=false CGO_ENABLED=0 golangci-lint run --build-tags=kube ./...
	@cd deployments/release && GOFLAGS=-buildvcs=false CGO_ENABLED=0 golangci-lint run ./...

.PHONY: words
words: ## Count words that hide a noun ("what", "one", "it") in comments and docs
	@scripts/count-words.pl $(ARGS)

.PHONY: fmt
fmt: ## Format all Go code
	@scripts/tools.sh golangci-lint templ
	@golangci-lint fmt ./...
	@cd lab/kube && golangci-lint fmt ./...
	@templ fmt adapters

.PHONY: generate
generate: ## Generate code from SQL, the OpenAPI document, templates and go:generate lines
	@scripts/generate.sh

.PHONY: check-generated
check-generated: ## Tell whether committed generated code is what `make generate` makes
	@scripts/check-generated.sh

.PHONY: screenshots
screenshots: ## Take the pictures of README and guides from a running `make run` (docs/pictures)
	@scripts/ensure-debian.sh chromium
	@go run ./lab/screenshots

.PHONY: dashboards
dashboards: ## Draw the panels of the Grafana dashboards from a run under load and faults (docs/dashboards)
	@DASHBOARDS_TO=$(CURDIR)/docs/dashboards go test -count=1 -v -run TestDashboards_UnderLoad ./lab/e2e

SEED := $(shell date +%s)
ARGS :=

.PHONY: faults
faults: ## Kill, freeze and cut off everything, and count what is lost (half an hour; docs/guides/measuring.md)
	@go run ./lab/faults -seed $(SEED) $(ARGS)

# The benchmark cannot measure the CPU time of servers in containers.
.PHONY: bench-delivery
bench-delivery: export TEST_SERVICES ?= native
bench-delivery: ## Measure delivery against its targets, on real processes (an hour and a half; docs/guides/measuring.md)
	@go run ./lab/bench delivery $(ARGS)

.PHONY: bench-api
bench-api: export TEST_SERVICES ?= native
bench-api: ## Measure the partner API against its targets and against pgbench (an hour and a half; docs/guides/measuring.md)
	@scripts/ensure-debian.sh pgbench
	@go run ./lab/bench api $(ARGS)

##@ Binaries

COMMANDS := http dispatcher admin sandbox
STAMP := $(shell git rev-parse --verify --quiet HEAD >/dev/null 2>&1 && echo true || echo false)

# git tells version, revision and date, unless they are given: make build VERSION=1.2.3. The stamp of Go itself knows no
# tags and misses worktrees.
VERSION :=
DESCRIBED = $(shell git describe --tags --always --dirty 2>/dev/null)
REVISION = $(shell git rev-parse --verify --quiet HEAD 2>/dev/null)
DATE = $(shell TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
STAMPED := partnerdeposits/process/version
STAMPS = -X $(STAMPED).Version=$(or $(VERSION),$(DESCRIBED)) \
	-X $(STAMPED).Revision=$(REVISION) -X $(STAMPED).Date=$(DATE)

.PHONY: build
build: ## Build all commands into bin/, static (VERSION=1.2.3 for another version than that of the checkout)
	@go build -buildvcs=$(STAMP) -ldflags='$(STAMPS)' -o bin/ $(COMMANDS:%=./cmd/%)

KEY :=

.PHONY: image
image: ## Build the image for amd64 and arm64 into dist/image, without a daemon (VERSION=1.2.3 names it)
	@go run -C deployments/release . image $(if $(VERSION),--version=$(VERSION))

.PHONY: release
release: ## Build a release into dist/VERSION (VERSION=1.2.3 KEY=owner.key; docs/guides/releasing.md)
	@go run -C deployments/release . release $(if $(KEY),--key=$(abspath $(KEY))) -- $(VERSION)

.PHONY: test-release
test-release: ## Build a whole release twice, in two folders, and compare every byte (four minutes)
	@go test -C deployments/release -tags=long -count=1 -v -timeout=60m -run=TestTwoBuilds .

.PHONY: clean
clean: ## Remove what was built; tools stay (they are in .local/bin)
	@rm -rf bin dist/image .local/tests

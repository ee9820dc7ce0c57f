package chart_test

import (
	"testing"

	_ "code.dny.dev/ssrf"
	"github.com/stretchr/testify/require"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "sigs.k8s.io/yaml"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/chart/common"
	cutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/engine"

	"partnerdeposits/process/config"
)

func TestX(t *testing.T) {
	_ = lint.RunAll
	_ = loader.Load
	_ = engine.Render
	_ = config.Database
	_ = chartv2.Chart{}
	_ = common.DefaultCapabilities
	_ = cutil.ToRenderValues
	_ = util.ProcessDependencies
	require.True(t, true)
}

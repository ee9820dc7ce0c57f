package sdk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/rarely"
)

// TestLibrary_InstallsFromAFolder installs each library as a package, in an empty folder and without a network, and
// uses it.
func TestLibrary_InstallsFromAFolder(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	const secret = "svc_whsec_q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6j7k8l9z0" //nolint:gosec // an example
	forEach(t, func(t *testing.T, l language) {
		dir, source := t.TempDir(), filepath.Join(sdk(), l.folder)
		write := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		var said string
		switch l.name {
		case "php":
			env := []string{"COMPOSER_HOME=" + t.TempDir(), "COMPOSER_ALLOW_SUPERUSER=1", "COMPOSER_DISABLE_NETWORK=1"}
			write("composer.json", `{"repositories": [{"type": "path", "url": "`+source+
				`", "options": {"symlink": false}}, {"packagist.org": false}]}`)
			in(t, dir, env, "composer", "require", "--no-interaction", "--no-plugins", "partner-deposits/php")
			write("main.php", `<?php require 'vendor/autoload.php';
new PartnerDeposits\Client('svc_pk_test_x'); echo PartnerDeposits\Webhook::standardSecret('`+secret+`');`)
			said = in(t, dir, nil, "php", "main.php")
		case "node":
			write("package.json", `{"private": true}`)
			in(t, dir, nil, "npm", "pack", "--silent", "--pack-destination", dir, source)
			tarballs, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
			require.NoError(t, err)
			require.Len(t, tarballs, 1)
			in(t, dir, nil, "npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", tarballs[0])
			write("main.mjs", `import { PartnerDeposits, standardSecret } from 'partner-deposits';
new PartnerDeposits('svc_pk_test_x'); console.log(standardSecret('`+secret+`'));`)
			write("main.cjs", `const { standardSecret } = require('partner-deposits'); console.log(standardSecret('`+secret+`'));`)
			require.Equal(t, in(t, dir, nil, "node", "--no-warnings", "main.cjs"), in(t, dir, nil, "node", "main.mjs"))
			said = in(t, dir, nil, "node", "main.mjs")
		case "python":
			copied := filepath.Join(t.TempDir(), "python") // pip builds within the folder
			require.NoError(t, os.CopyFS(copied, os.DirFS(source)))
			in(t, dir, []string{"PIP_ROOT_USER_ACTION=ignore"}, python, "-m", "pip", "install", "--quiet", "--no-index",
				"--no-build-isolation", "--no-deps", "--target", "site", copied)
			require.FileExists(t, filepath.Join(dir, "site", "partner_deposits", "py.typed"))
			write("main.py", `import partner_deposits as p
p.PartnerDeposits("svc_pk_test_x"); print(p.standard_secret("`+secret+`"))`)
			said = in(t, dir, []string{"PYTHONPATH=site"}, python, "main.py")
		case "go":
			write("go.mod", "module example.com/partner\n\ngo 1.23\n\nrequire partnerdeposits/sdk/go v1.0.0\n\nreplace partnerdeposits/sdk/go => "+
				source+"\n")
			write("main.go", "package main\n\nimport (\n\t\"fmt\"\n\n\t\"partnerdeposits/sdk/go\"\n)\n\nfunc main() {\n"+
				"\tdeposits.New(\"svc_pk_test_x\")\n\tfmt.Println(deposits.StandardSecret(\""+secret+"\"))\n}\n")
			said = in(t, dir, []string{"GOPROXY=off", "GOFLAGS=-mod=mod"}, "go", "run", ".")
		}
		require.Contains(t, said, "whsec_c3ZjX3doc2VjX3ExdzJlM3I0", l.name)
	})
}

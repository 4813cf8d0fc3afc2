package cli_test

import (
	"archive/zip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVendoredPackages: lodash, axios, and a TypeScript tool with zod, bundle and run from
// node_modules beside them, with neither npm nor Node.js nor a network (issue 7).
// testdata/packages.zip has the files of lodash 4.17.21, zod 3.25.76 and axios 1.12.2 that
// are read then, as npm brings them, with their licences (MIT).
func TestVendoredPackages(t *testing.T) {
	if raced() {
		t.Skip("reading large packages takes many times as long under the race detector, and nothing happens at once")
	}
	dir := t.TempDir()
	packages, err := zip.OpenReader("testdata/packages.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer packages.Close()
	if err := os.CopyFS(dir, packages); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.Copy(w, r.Body)
	}))
	defer server.Close()
	for name, text := range map[string]string{
		"chunks.tool.js": `const _ = require('lodash')
module.exports = {
  getMetadata () { return { description: 'Cuts a list.' } },
  getDependencies () { return { lodash: '^4.17.21' } },
  execute () { return [_.chunk([1, 2, 3], 2), _.camelCase('foo bar')] }
}`,
		"posts.tool.js": `const axios = require('axios')
module.exports = {
  getMetadata () { return { description: 'Posts.', permissions: ['network:local:127.0.0.1'] } },
  getDependencies () { return { axios: '^1.6.0' } },
  async execute ({ url }) { const r = await axios.post(url, { a: 1 }, { timeout: 60000 }); return [r.status, r.data] }
}`,
		"checks.tool.ts": `import { z } from 'zod'
const Order = z.object({ id: z.number().int(), mail: z.string().email(), lines: z.array(z.object({ n: z.number().positive() })).min(1) })
type Order = z.infer<typeof Order>
export default {
  getMetadata: () => ({ description: 'Checks an order.' }),
  getDependencies: () => ({ zod: '^3.0.0' }),
  async execute ({ order }: { order: Order }): Promise<string[]> {
    const r = Order.safeParse(order)
    return r.success ? [r.data.mail] : r.error.issues.map(i => i.path.join('.'))
  }
}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath("flowrun")
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + dir, "HOME=" + dir, "FLOWRUN_STATE_DIR=" + filepath.Join(dir, "state")}
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("flowrun %s: %v\n%s%s", strings.Join(args, " "), err, out, said.String())
		}
		return strings.TrimSpace(string(out))
	}
	for _, c := range [][]string{
		{`[[[1,2],[3]],"fooBar"]`, "./chunks.tool.js"},
		{`[200,{"a":1}]`, "./posts.tool.js", "url=" + server.URL},
		{`["a@b.org"]`, "./checks.tool.ts", `order:={"id": 1, "mail": "a@b.org", "lines": [{"n": 1}]}`},
		{`["id","mail","lines"]`, "./checks.tool.ts", `order:={"id": 1.5, "mail": "a", "lines": []}`},
	} {
		if got := run(append([]string{"run"}, c[1:]...)...); got != c[0] {
			t.Errorf("%v: %s, want %s", c[1:], got, c[0])
		}
	}
}

package enginetest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/steps/egress"
)

// realToolsSmall are those of the Small size: they read, write, execute, and use the network and the environment.
var realToolsSmall = []string{"git", "tar", "gcc", "curl"}

// realTools use common programs. Each is traced, then it runs with exactly the permissions that the trace printed, and then
// with each of them missing. Without the optional ones the program does the same, perhaps slower.
var realTools = []struct{ program, bash, optional string }{
	{"git", "git -C repo add a && git -C repo -c user.name=a -c user.email=b@c -c commit.gpgsign=false commit -qm x && git -C repo show --stat --format=%s", ""},
	{"tar", "tar -czf out/x.tgz src && tar -tzf out/x.tgz | sort", ""},
	{"gzip", "gzip -9 <src/one >out/one.gz && gzip -dc out/one.gz", ""},
	{"make", "cp src/one out/in && make -s -f src/Makefile", ""},
	{"gcc", "gcc -o out/prog c/main.c && ./out/prog", ""},
	{"go", "export GOCACHE={CACHE} GOPATH=$PWD/out HOME=$PWD/src/one GOTOOLCHAIN=local GOENV=off GOFLAGS=-mod=mod; cd src && go build -o ../out/prog . && ../out/prog 2>&1",
		"filesystem:write:{CACHE}"},
	{"node", "node src/main.js", ""},
	{"npm", "export npm_config_update_notifier=false npm_config_cache=$PWD/src/one/none; npm --prefix pkg run --silent b", ""},
	{"python3", "/usr/bin/python3 -c 'import json, sqlite3; print(json.load(open(\"src/data.json\"))[\"a\"])'", ""},
	{"sqlite3", "sqlite3 out/db 'create table t(x); insert into t values(42)' && sqlite3 out/db 'select * from t'", ""},
	{"jq", "jq -r .a src/data.json", ""},
	{"rg", "rg --no-config -N one src | sort", ""},
	{"find", "find src -name 'o*' | sort", ""},
	{"sort", "sort -o out/sorted src/one src/two && cat out/sorted", ""},
	{"openssl", "openssl dgst -sha256 src/one && openssl genrsa -out out/key 1024 2>/dev/null && openssl rsa -in out/key -check -noout", ""},
	{"awk", "awk '{ print FILENAME, $1 > \"out/awk\" }' src/one && cat out/awk", ""},
	{"sed", "cp src/one out/sed && sed -i s/one/1/ out/sed && cat out/sed", ""},
	{"xz", "xz -c src/one >out/one.xz && xz -dc out/one.xz", ""},
	{"groff", "groff -Tascii -P-c src/page.roff | grep -v '^$'", ""},
	{"ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f out/key && ssh-keygen -y -P '' -f out/key | cut -d' ' -f1", ""},
	{"perl", "perl -pe 's/one/uno/' src/one", ""},
	{"diff", "(diff -r src other || [ $? -eq 1 ]) | sort", ""},
	{"zip", "zip -q out/x.zip src/one && unzip -p out/x.zip", ""},
	{"patch", "cp src/one out/p && patch -s out/p src/change.patch && cat out/p", ""},
	{"gpg", "chmod 700 out; export GNUPGHOME=$PWD/out; gpg -q --batch --store -o out/msg src/one && gpg -q --batch -d out/msg 2>/dev/null", ""},
	{"curl", "curl -sSf $SERVER/x", ""},
	{"curl", "curl -sSf --noproxy '' $SERVER/x", ""}, // through the proxy
}

// learnFolder makes the files of realTools, and a repository for git.
func learnFolder(t *testing.T, program string) string {
	t.Helper()
	dir := openFolder(t)
	for name, text := range map[string]string{
		"src/one": "one\n", "src/two": "two\n", "src/data.json": `{"a": "b"}`, "c/main.c": "#include <stdio.h>\nint main(void) { puts(\"hi\"); return 0; }\n",
		"src/main.go": "package main\n\nfunc main() { print(\"hi\\n\") }\n", "src/go.mod": "module x\n\ngo 1.26\n", "src/Makefile": "out/made: out/in; cat $< | tee $@\n",
		"src/main.js": "console.log(require('fs').readFileSync('src/one', 'utf8'))", "src/page.roff": ".TH x 1\n.SH NAME\nx\n",
		"src/change.patch": "--- a\n+++ b\n@@ -1 +1 @@\n-one\n+uno\n", "other/one": "other\n", "out/.keep": "", "repo/a": "a\n", "home/.keep": "",
		"pkg/package.json": `{"name": "x", "version": "1.0.0", "scripts": {"b": "cat ../src/one"}}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if program == "git" {
		if out, err := exec.Command("git", "init", "-q", filepath.Join(dir, "repo")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

func TestLearnedPermissions(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }))
	t.Cleanup(server.Close)
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		needtest.Missing(t, "%v", err)
	}
	params := map[string]any{"CACHE": strings.TrimSpace(string(goCache))}
	env := []string{"PATH=/usr/local/go/bin:/usr/bin:/bin", "SERVER=" + server.URL, "UNUSED=x"}
	for _, tool := range realTools {
		t.Run(tool.program, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains(realToolsSmall, tool.program) {
				sizetest.Need(t, sizetest.Gate, "a program whose accesses are of the same kinds as those of others")
			}
			needtest.Program(t, tool.program)
			run := func(security string, options ...engine.RunOption) *runresult.Result {
				dir := learnFolder(t, tool.program)
				home := filepath.Join(dir, "home")
				w := engine.RunEnv{Workspace: dir, Home: home, Temp: "/tmp", Env: append(slices.Clone(env), "HOME="+home)}
				p := compile(t, dir, "description: x\nparameters: {CACHE: {type: string, description: of Go}}\nenvironment: {variables: {GIT_CONFIG_NOSYSTEM: '1'}}\nbash: |\n  set -e -o pipefail\n  "+tool.bash+"\n"+security)
				res, err := engine.New(engine.Config{Egress: egress.Serve}).Run(context.Background(), p, params, append(options, engine.WithRunEnv(w))...)
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			traced := run("", engine.WithPermissionTrace())
			if traced.Status != dag.Succeeded {
				t.Fatalf("%+v", traced)
			}
			needed := traced.Permissions.Needed
			t.Logf("%q", needed)
			enforced := run(securitySection(needed))
			if enforced.Status != dag.Succeeded || enforced.Output != traced.Output {
				t.Fatalf("%s, printed %q, want %q: %+v", enforced.Status, enforced.Output, traced.Output, enforced.Steps)
			}
			for i, missing := range needed {
				if tool.optional != "" && strings.HasPrefix(missing, tool.optional) {
					continue
				}
				res := run(securitySection(slices.Delete(slices.Clone(needed), i, i+1)))
				if res.Status == dag.Succeeded && res.Output == traced.Output {
					t.Errorf("it works without %s", missing)
				}
			}
		})
	}
}

// securitySection returns the section that flowrun run --trace-permissions prints.
func securitySection(entries []string) string {
	s := "security:\n  enforce: true\n  required-permissions:"
	if len(entries) == 0 {
		s += " []"
	}
	for _, e := range entries {
		s += "\n    - " + e
	}
	return s + "\n"
}

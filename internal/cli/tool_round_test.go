package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowrun/flowrun/internal/cli"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// flowrunIn runs a command line in this process.
func flowrunIn(t *testing.T, stdin string, words ...string) (out, narration string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Main(cli.Process{Args: words, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr})
	return stdout.String(), stderr.String(), code
}

// ownFolders gives a test scopes of its own.
func ownFolders(t *testing.T) (dir string) {
	dir = t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "home", ".config"))
	t.Setenv("FLOWRUN_GLOBAL_TOOLS", filepath.Join(dir, "global"))
	t.Setenv("FLOWRUN_STATE_DIR", filepath.Join(dir, "state"))
	t.Setenv("NO_COLOR", "1")
	return dir
}

// definitions are those of the specification, its fragments completed, and of the
// examples, by name.
func definitions(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, pattern := range []string{"../lang/tool/testdata/spec001/*.yaml", "../../examples/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("there is nothing at %s: %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, around := range []string{"", "description: d\n", "description: d\nrun: 'true'\n"} {
				if def, found := decode.File(file, []byte(around+string(b))); found.Err() == nil {
					all[def.Name] = around + string(b)
					break
				}
			}
		}
	}
	return all
}

// TestGetImport: the output of get can be imported and gives the same tool, for the definitions of
// the specification and the examples.
func TestGetImport(t *testing.T) {
	all := definitions(t)
	if len(all) < 60 {
		t.Fatalf("only %d definitions load", len(all))
	}
	dir := ownFolders(t)
	local, user := filepath.Join(dir, ".flowrun", "tools"), filepath.Join(dir, "home", ".config", "flowrun", "tools")
	if err := os.MkdirAll(local, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(local, name+".yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range all {
		for _, format := range []string{"yaml", "json"} {
			out, stderr, code := flowrunIn(t, "", "tool", "get", name, "--local", "--format", format)
			if code != 0 {
				t.Errorf("get %s: exit code %d: %s", name, code, stderr)
				continue
			}
			if _, stderr, code = flowrunIn(t, out, "tool", "import", "-", "--user", "--override"); code != 0 {
				t.Errorf("import %s as %s: exit code %d: %s\n%s", name, format, code, stderr, out)
				continue
			}
			was, _, err := library.New(library.Config{}).Load(filepath.Join(local, name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			is, _, err := library.New(library.Config{}).Load(filepath.Join(user, name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was, is, cmpopts.IgnoreTypes(tool.Pos{}), cmpopts.IgnoreUnexported(tool.Text{}, tool.Value{}, tool.DeclaredOutput{}, tool.HTTP{}, dataschema.Schema{}),
				cmpopts.IgnoreFields(tool.Definition{}, "File", "Source")); diff != "" {
				t.Errorf("%s as %s: -was +is:\n%s", name, format, diff)
			}
		}
	}
}

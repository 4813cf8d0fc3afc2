package script

import (
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestGrantNetwork: a script reaches the hosts that its permissions name and no others,
// however the address is written.
func TestGrantNetwork(t *testing.T) {
	for _, c := range []struct {
		granted, address string
		allowed          bool
	}{
		{"network:external:api.example.com", "https://api.example.com/x?y", true},
		{"network:external:api.example.com", "HTTPS://API.Example.COM.:8443/", true},
		{"network:external:API.example.com.", "https://api.example.com/", true},
		{"network:external:api.example.com:443", "https://api.example.com/", true},
		{"network:external:api.example.com:443", "http://api.example.com/", false},
		{"network:external:api.example.com:8080", "http://api.example.com:8080/", true},
		{"network", "https://anything.example/", true},
		{"network", "http://127.0.0.1:1/", true},
		{"network:external", "https://anything.example/", true},
		{"network:external", "http://localhost/", false},
		{"network:external:api.example.com", "https://example.com/", false},
		{"network:external:api.example.com", "https://api.example.com.evil.org/", false},
		{"network:external:api.example.com", "https://evil.org/api.example.com", false},
		{"network:external:api.example.com", "https://api.example.com@evil.org/", false},
		{"network:external:api.example.com", "https://api.example.com:443@evil.org/", false},
		{"network:external:api.example.com", "https://evil.org#@api.example.com/", false},
		{"network:external:api.example.com", "https://evil.org?@api.example.com/", false},
		{"network:external:api.example.com", "https://sub.api.example.com/", false},
		{"network:external:api.example.com/path", "https://api.example.com/path", false},
		{"network:external:user@api.example.com", "https://api.example.com/", false},
		{"network:local:localhost", "http://localhost:8080/", true},
		{"network:local:localhost:8080", "http://localhost:8080/", true},
		{"network:local:localhost:8080", "http://localhost:8081/", false},
		{"network:external:localhost", "http://localhost/", false},
		{"network:local:127.0.0.1", "http://127.0.0.1/", true},
		{"network:local:127.0.0.1", "http://[::ffff:127.0.0.1]/", true},
		{"network:local:127.0.0.1", "http://localhost/", false},
		{"network:local:::1", "http://[::1]:9/", true},
		{"network:local:[::1]:9", "http://[0:0:0:0:0:0:0:1]:9/", true},
		{"network:local:[::1]:9", "http://[::1]:10/", false},
		{"network:external:10.0.0.1", "http://10.0.0.1/", false},
		{"network:local:10.0.0.1", "http://10.0.0.1/", true},
		{"network:external:api.example.com", "ftp://api.example.com/", false},
		{"network", "file:///etc/passwd", false},
		{"network", "http:///x", false},
		{"filesystem:read:/", "http://localhost/", false},
		{"networks", "http://localhost/", false},
	} {
		u, err := url.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		err = permission.Grants{c.granted}.Network(u)
		if (err == nil) != c.allowed {
			t.Errorf("%s for %s: %v", c.granted, c.address, err)
		}
	}
	u, _ := url.Parse("https://api.example.com/?key=hunter22")
	if err := (permission.Grants{}).Network(u); err == nil || !strings.HasPrefix(err.Error(), "PermissionDenied: Permission not granted: network:external:api.example.com; ") {
		t.Error(err)
	}
}

// TestGrantAddress: a name of the outside world that leads inside is refused when it is
// reached.
func TestGrantAddress(t *testing.T) {
	for _, c := range []struct {
		granted, host, to string
		allowed           bool
	}{
		{"network:external:a.example", "a.example", "93.184.216.34", true},
		{"network:external:a.example", "a.example", "127.0.0.1", false},
		{"network:external:a.example", "a.example", "::1", false},
		{"network:external:a.example", "a.example", "::ffff:10.1.2.3", false},
		{"network:external:a.example", "a.example", "169.254.169.254", false},
		{"network:external:a.example", "a.example", "100.100.1.1", false},
		{"network:external:a.example", "a.example", "0.0.0.0", false},
		{"network:external:a.example", "a.example", "fd00::1", false},
		{"network:local:a.example", "a.example", "10.1.2.3", true},
		{"network:local:b.example", "a.example", "10.1.2.3", false},
		{"network", "a.example", "127.0.0.1", true},
	} {
		err := permission.Grants{c.granted}.Address(c.host, "443", netip.MustParseAddr(c.to))
		if (err == nil) != c.allowed {
			t.Errorf("%s for %s at %s: %v", c.granted, c.host, c.to, err)
		}
	}
}

// TestGrantFiles: a script reads below the folders and the files that its permissions
// name, wherever links lead.
func TestGrantFiles(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	for _, name := range []string{"data/in/a.txt", "secret/key", "written/c.txt", "one.txt", "data-other/b.txt"} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte("text of "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"data/out": at("secret"), "data/inner": "in/a.txt", "data/round": "round"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Skip(err)
		}
	}
	g := permission.Grants{"filesystem:read:" + at("data"), "filesystem:read:" + at("one.txt"), "filesystem:write:" + at("written")}
	for path, want := range map[string]string{
		at("data/in/a.txt"):               "text of data/in/a.txt",
		at("data") + "/in/../in/./a.txt":  "text of data/in/a.txt",
		at("data/inner"):                  "text of data/in/a.txt",
		at("one.txt"):                     "text of one.txt",
		at("written/c.txt"):               "text of written/c.txt",
		at("secret/key"):                  "PermissionDenied",
		at("data/out/key"):                "PermissionDenied",
		at("data") + "/../secret/key":     "PermissionDenied",
		at("data") + "/out/../secret/key": "PermissionDenied",
		at("data-other/b.txt"):            "PermissionDenied",
		at("data") + "\x00/in/a.txt":      "EINVAL",
		at("data/none"):                   "ENOENT",
		at("data/in"):                     "EISDIR",
		at("data/in/a.txt/x"):             "ENOTDIR",
		at("data/round"):                  "ELOOP",
	} {
		got := ""
		root, rest, err := g.Readable(path)
		if err == nil {
			var v any
			if v, err = readBelow("fs.readFile", root, rest, path); err == nil {
				got = *v.(contents).Text
			} else {
				err = systemError(err)
			}
		}
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), ":")
		}
		if got != want {
			t.Errorf("%s: %q (%v), want %q", path, got, err, want)
		}
	}
	root, rest, err := g.Readable(at("data/in"))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := readBelow("fs.readdir", root, rest, at("data/in")); err != nil || v.([]fileEntry)[0].Name != "a.txt" {
		t.Errorf("%v, %v", v, err)
	}
	if root, rest, err = g.Readable(at("data/inner")); err != nil {
		t.Fatal(err)
	}
	if v, err := readBelow("fs.lstat", root, rest, at("data/inner")); err != nil || v.(fileEntry).Kind != "link" {
		t.Errorf("%v, %v", v, err)
	}
}

// TestGrantExecute: a program is started by a path that leads to what a permission names.
func TestGrantExecute(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin, other := filepath.Join(top, "bin"), filepath.Join(top, "other")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(bin, "out")); err != nil {
		t.Skip(err)
	}
	g := permission.Grants{"filesystem:execute:git", "filesystem:execute:" + bin, "filesystem:read:" + other, "filesystem:execute:/"}
	for program, allowed := range map[string]bool{
		"git": false, "bin": false, "./git": false, "": false, // what starts is always a path
		bin + "/tool": true, bin + "/../bin/tool": true, bin + "/../other": false, bin + "/out": false, bin + "-other/tool": false, other: false,
	} {
		if err := g[:3].Execute(program, program); (err == nil) != allowed {
			t.Errorf("%s: %v", program, err)
		}
	}
	if err := g.Execute(other, other); err != nil {
		t.Errorf("below the root: %v", err)
	}
}

// TestPermit: a name is a program of flowrun's own PATH and a path is that file, whatever
// is in the options; variables that make programs run code need a permission.
func TestPermit(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"system/git", "system/other", "work/git", "work/mine"} {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("programs are told by their extensions there")
	}
	work := filepath.Join(top, "work")
	permit := func(in execution, granted ...string) (string, error) {
		def := &tool.Definition{}
		w := &call.RunEnv{Workspace: work, Env: []string{"PATH=." + string(filepath.ListSeparator) + filepath.Join(top, "system")}}
		p := &plan.Plan{Definition: def}
		for _, g := range granted {
			p.Permissions = append(p.Permissions, plan.Permission{Written: g, Text: expr.Literal(g)})
		}
		args := (&call.Params{Plan: p, RunEnv: w.Filled()}).Preview()
		if err := args.FindDir(); err != nil {
			t.Fatal(err)
		}
		api := &toolAPI{hostCalls: &hostCalls{args: args}}
		err := api.permit(&in)
		return in.Command, err
	}
	git, mine := filepath.Join(top, "system", "git"), filepath.Join(work, "mine")
	for _, c := range []struct {
		about   string
		in      execution
		granted []string
		want    string // that starts; "" for refused
	}{
		{"a name", execution{Command: "git"}, []string{"filesystem:execute:git"}, git},
		{"its path", execution{Command: git}, []string{"filesystem:execute:git"}, git},
		{"another name", execution{Command: "other"}, []string{"filesystem:execute:git"}, ""},
		{"the file of that name here", execution{Command: "./git"}, []string{"filesystem:execute:git"}, ""},
		{"its whole path", execution{Command: filepath.Join(work, "git")}, []string{"filesystem:execute:git"}, ""},
		{"a program that is only here", execution{Command: "mine"}, []string{"filesystem:execute:mine"}, ""},
		{"which is granted by its path", execution{Command: "./mine"}, []string{"filesystem:execute:./mine"}, mine},
		{"a path grants no program of that name", execution{Command: "git"}, []string{"filesystem:execute:./git"}, ""},
		{"a harmless variable", execution{Command: "git", Env: map[string]string{"X": "1"}}, []string{"filesystem:execute:git"}, git},
		{"PATH", execution{Command: "git", Env: map[string]string{"PATH": work}}, []string{"filesystem:execute:git"}, ""},
		{"a library", execution{Command: "git", Env: map[string]string{"LD_PRELOAD": "./x.so"}}, []string{"filesystem:execute:git"}, ""},
		{"a function", execution{Command: "git", Env: map[string]string{"BASH_FUNC_ls%%": "() { id; }"}}, []string{"filesystem:execute:git"}, ""},
		{"a name with =", execution{Command: "git", Env: map[string]string{"PATH=x": ""}}, []string{"filesystem:execute:git", "environment:PATH"}, ""},
		{"what is granted", execution{Command: "git", Env: map[string]string{"PATH": work}}, []string{"filesystem:execute:git", "environment:PATH"}, git},
	} {
		got, err := permit(c.in, c.granted...)
		if c.want == "" && err == nil || c.want != "" && (err != nil || got != c.want) {
			t.Errorf("%s: %s, %v; want %q", c.about, got, err, c.want)
		}
	}
}

// TestGrantRace: a link that is put in place after the permission was looked at leads
// nowhere.
func TestGrantRace(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(top, "data", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "key"), []byte("hunter22"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(top, "data", "sub", "key")
	root, rest, err := permission.Grants{"filesystem:read:" + filepath.Join(top, "data")}.Readable(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(top, filepath.Dir(path)); err != nil {
		t.Skip(err)
	}
	if v, err := readBelow("fs.readFile", root, rest, path); err == nil {
		t.Errorf("it reads %v", v)
	}
}

// TestGrantCallTool: a script calls the tools that its permissions name, and no others.
func TestGrantCallTool(t *testing.T) {
	for _, c := range []struct {
		granted, name string
		allowed       bool
	}{
		{"tool:greet", "greet", true},
		{"tool:greet", "Greet", false},
		{"tool:greet", "greeting", false},
		{"tool:greet*", "greeting", true},
		{"tool:gree?", "greet", true},
		{"tool:[a-h]reet", "greet", true},
		{"tool:*", "greet", true},
		{"tool:*", "./greet.yaml", false},
		{"tool:*", "/srv/greet.yaml", false},
		{"tool:./*.yaml", "./greet.yaml", true},
		{"tool:./*.yaml", "./sub/greet.yaml", false},
		{"tool:./greet.yaml", "./greet.yaml", true},
		{"tool:[", "[", true}, // no pattern, but the name as it stands
		{"tool:[", "greet", false},
		{"tool:", "greet", false},
		{"tool", "greet", false},
		{"greet", "greet", false},
		{"network", "greet", false},
		{"filesystem:execute:greet", "greet", false},
	} {
		if err := (permission.Grants{c.granted}).CallTool(c.name); (err == nil) != c.allowed {
			t.Errorf("%s, call %s: %v", c.granted, c.name, err)
		} else if err != nil && !strings.Contains(err.Error(), "permissions: ['tool:"+c.name+"']") {
			t.Errorf("%s, call %s: %v has no line to add", c.granted, c.name, err)
		}
	}
}

// TestGrantAskModel checks that only its own permission lets a script ask a model.
func TestGrantAskModel(t *testing.T) {
	for granted, allowed := range map[string]bool{"model": true, "model:x": false, "tool:*": false, "network": false, "": false} {
		if err := (permission.Grants{granted}).AskModel(); (err == nil) != allowed {
			t.Errorf("%q: %v", granted, err)
		}
	}
	if bad := permission.Problem("model"); bad != "" {
		t.Error(bad)
	}
	if permission.Problem("model:x") == "" {
		t.Error("model:x has no problem")
	}
}

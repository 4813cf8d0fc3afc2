package repositorytest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWholeFiles: files that must be whole are written by internal/os/atomicfile, so nothing
// else renames; but for these, by the function that does it.
func TestWholeFiles(t *testing.T) {
	t.Chdir(top)
	may := map[string]string{
		"listenUnix": "a socket, which is made where nobody can reach it yet",
		"moveFolder": "a whole folder, which npm has filled",
		"place":      "a whole folder of kept results",
		"remove":     "a whole folder of kept results, which goes at once",
		"Publish":    "a response or rows, which os.Root keeps below the folder that is permitted",
		"replace":    "a whole folder of artifacts",
		"CopyTo":     "a whole folder of copied artifacts",
		"Withdraw":   "a whole folder of an artifact from another machine",
		"complete":   "a history that SQLite has written",
	}
	used := map[string]bool{}
	eachFunction(t, func(pkg, file string, f *ast.FuncDecl) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Rename" && pkg != "internal/os/atomicfile" {
				if used[f.Name.Name] = true; may[f.Name.Name] == "" {
					t.Errorf("%s: %s renames: write files with internal/os/atomicfile, or give a reason here", file, f.Name.Name)
				}
			}
			return true
		})
	})
	for name := range may {
		if !used[name] {
			t.Errorf("%s renames nothing any more: take it off the list", name)
		}
	}
}

// TestConnections: every file that opens a connection, resolves a name or starts the ssh client is listed here, with who
// decides where it may go. What a caller's value can choose asks permission.Grants or the list of the built-in tools.
func TestConnections(t *testing.T) {
	t.Chdir(top)
	may := map[string]string{
		"steps/egress/proxy.go":                 "the proxy of enforced steps: permissions, at each connection",
		"internal/engine/steps/poller.go":       "steps that wait: permissions, at each connection",
		"internal/engine/sqlstep/runner.go":     "steps that ask a database: permissions",
		"internal/service/netclient/fetch.go":   "FetchRequest.Reach: permissions, or tools.webAllow",
		"internal/service/netclient/status.go":  "StatusRequest.Reach: permissions",
		"internal/engine/permission/network.go": "decides for ssh, whose client gets the address",
		"internal/engine/sshcommand/target.go":  "the address that package permission decided",
		"internal/model/mcpclient/elsewhere.go": "authorization servers: those of a public server must be public",
		"internal/model/mcpclient/http.go":      "servers in the settings",
		"internal/model/mcpclient/link.go":      "servers in the settings",
		"internal/observe/telemetry/export.go":  "the collector in the settings",
		"internal/service/notify/email.go":      "the mail server in the settings",
		"internal/service/notify/webhook.go":    "addresses in the settings and in definitions, as fixed text",
		"internal/cli/ui/service_client.go":     "the socket of the service",
		"internal/cli/serve/socket.go":          "the socket of the service",
		"temporal/internal/datastore/bucket.go": "the bucket in the settings",
	}
	opens := regexp.MustCompile(`net\.Dial|Dialer[{)]|\.Lookup(Host|IP|NetIP|Addr|SRV|MX|TXT|CNAME)\(|http\.Default(Transport|Client)|http\.(Get|Post|PostForm|Head)\(|http\.(Transport|Client)\{|DefaultTransport\(|append\(\[\]string\{"ssh"|Command(Context)?\(.*"ssh"`)
	used := map[string]bool{}
	for _, files := range sources(t) {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				code, _, _ := strings.Cut(line, "//")
				if !opens.MatchString(code) {
					continue
				}
				if used[file] = true; may[file] == "" {
					t.Errorf("%s:%d opens a connection: ask permission.Grants where it may go, and say here who decides", file, i+1)
				}
			}
		}
	}
	for file := range may {
		if !used[file] {
			t.Errorf("%s opens no connection any more: take it off the list", file)
		}
	}
}

// TestJSONReaders: what comes from outside is decoded by value.StrictJSON if a person or a caller wrote it, and by
// value.DecodeJSON if a program, an MCP server or a model did. Who uses encoding/json itself is listed here with the reason.
func TestJSONReaders(t *testing.T) {
	t.Chdir(top)
	const own, world, lenient = "what flowrun wrote itself", "messages between flowrun and its JavaScript", "MCP servers and models: taken as it is, or in its order"
	may := map[string]string{
		"dag": own, "history": own, "internal/store/merge": own, "internal/store/sqlite": own, "internal/store/storepipe": own,
		"internal/observe/audit": own, "internal/engine/artifact": own, "internal/engine/cache": own, "internal/engine/permtrace": own, "internal/engine/rundir": own,
		"internal/engine/toolstate": own, "internal/os/confine": own, "internal/os/supervisor": own, "internal/service/config": own,
		"internal/service/timetable": own, "internal/service/users": own, "internal/service/web": own,
		"internal/cli/launch": own, "internal/cli/state": own, "internal/cli/ui": own,
		"temporal/internal/activity": own, "temporal/internal/interpreter": own,
		"hooks": world, "internal/engine/script": world, "internal/js/jsrun": world, "internal/js/jsworld": world,
		"internal/engine/gostep": lenient, "internal/model/discovery": lenient, "internal/model/funcschema": lenient, "internal/model/mcpclient": lenient,
		"internal/service/mcp": lenient, "internal/cli/models": lenient, "registry": lenient,
		"internal/lang/value":       "the two readers",
		"internal/lang/expr":        "one key in quotes",
		"internal/lang/dataschema":  "the order of keys in what was read before",
		"internal/engine/runresult": "Result.Decode, into a type of the caller",
		"internal/engine/stepfile":  "an object in a line that other lines follow, checked by the reader of the file",
		"internal/js/bundle":        "package.json of npm packages, and what esbuild wrote",
	}
	reads := regexp.MustCompile(`json\.(Unmarshal|NewDecoder)\(`)
	used := map[string]bool{}
	for pkg, files := range sources(t) {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !reads.Match(text) || strings.HasPrefix(pkg, "internal/test/") || strings.HasPrefix(pkg, ".ci/") || pkg == "internal/release" {
				continue
			}
			if used[pkg] = true; may[pkg] == "" {
				t.Errorf("%s decodes JSON: use value.StrictJSON or value.DecodeJSON, or give a reason here", file)
			}
		}
	}
	for pkg := range may {
		if !used[pkg] {
			t.Errorf("%s decodes no JSON any more: take it off the list", pkg)
		}
	}
}

// TestWhoContinues: every place that carries a recorded run on, or resumes it for a person, is listed here, with the column
// of TestCarriedOn (internal/test/enginetest) that shows what it does. A new one needs a column.
func TestWhoContinues(t *testing.T) {
	t.Chdir(top)
	columns := map[string]string{
		"internal/cli/runs/approve.go":     "Continue: an approval, a rejection, two answers",
		"internal/cli/runs/cancel.go":      "Continue: a cancel",
		"internal/cli/runs/resume.go":      "Resume, Continue: an order of a person, an answer that nobody continued, the end of a question's time",
		"internal/service/answer.go":       "Continue: an approval, a rejection",
		"internal/service/control.go":      "Resume: an order of a person",
		"internal/service/orphan.go":       "Continue: a restart, a crash after an answer, the end of a question's time, a cancel",
		"result.go":                        "Continue: a restart of a program that embeds flowrun",
		"internal/service/toolset/runs.go": "Resume: an order of a person",
	}
	continues := regexp.MustCompile(`\.(Continue|Resume)\([^)]*([Ll]ibrary\(\)|\blib\b)|RecordedRun\)\.(Continue|Resume)\b`)
	used := map[string]bool{}
	for pkg, files := range sources(t) {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if pkg == "internal/engine" || !continues.Match(text) { // it has these functions
				continue
			}
			if used[file] = true; columns[file] == "" {
				t.Errorf("%s carries runs on: add a column to TestCarriedOn, and name it here", file)
			}
		}
	}
	for file := range columns {
		if !used[file] {
			t.Errorf("%s carries no run on any more: take it off the list", file)
		}
	}
}

// TestNoSettableVariables: no package has a variable that another could set, but for errors
// to compare with and what the linker sets.
func TestNoSettableVariables(t *testing.T) {
	t.Chdir(top)
	linker := map[string]bool{"Version": true, "Commit": true, "Date": true}
	for _, files := range sources(t) {
		for _, file := range files {
			for _, d := range parsed(t, file).Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.VAR {
					continue
				}
				for _, s := range g.Specs {
					for _, n := range s.(*ast.ValueSpec).Names {
						if n.IsExported() && !strings.HasPrefix(n.Name, "Err") && !(linker[n.Name] && filepath.Base(file) == "version.go") {
							t.Errorf("%s: every package can set %s: make it a function or a constant", file, n.Name)
						}
					}
				}
			}
		}
	}
}

// eachFunction calls visit for every function of the product.
func eachFunction(t *testing.T, visit func(pkg, file string, f *ast.FuncDecl)) {
	for pkg, files := range sources(t) {
		for _, file := range files {
			for _, d := range parsed(t, file).Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					visit(pkg, file, f)
				}
			}
		}
	}
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPropertyTests: property tests draw the values that package proptest has chosen for the size of the run. One that asks rapid
// itself would draw new ones each time, and fail for whoever comes next.
func TestPropertyTests(t *testing.T) {
	t.Chdir(top)
	checks := regexp.MustCompile(`\brapid\.(Check|MakeCheck)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "internal/test/proptest/") {
			return err
		}
		text, err := os.ReadFile(path)
		if found := checks.Find(text); found != nil {
			t.Errorf("%s: use proptest.Check in place of %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

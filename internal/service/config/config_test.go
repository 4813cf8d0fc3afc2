package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/config"
)

// place is a machine with files of its own.
type place struct {
	testing.TB
	dir string
	env map[string]string
}

func newPlace(t testing.TB, files map[string]string) *place {
	p := &place{t, t.TempDir(), map[string]string{}}
	p.env["FLOWRUN_GLOBAL_CONFIG"] = filepath.Join(p.dir, "etc/config.yaml")
	for name, text := range files {
		p.write(name, text)
	}
	return p
}

func (p *place) write(name, text string) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

func (p *place) load() (*config.Config, error) { return p.with(config.Options{}) }

func (p *place) with(o config.Options) (*config.Config, error) {
	work := filepath.Join(p.dir, "project/sub")
	if err := os.MkdirAll(work, 0o700); err != nil {
		p.Fatal(err)
	}
	o.WorkingDirectory, o.Home, o.StateDir = work, filepath.Join(p.dir, "home"), filepath.Join(p.dir, "state")
	o.Getenv = func(name string) string { return p.env[name] }
	return config.Load(o)
}

// list returns every value except defaults: key=value@origin, with ! if it is ignored.
func (p *place) list(c *config.Config) (lines []string) {
	for _, v := range c.Values {
		if v.Origin.Layer == config.Default {
			continue
		}
		mark := ""
		if v.Ignored {
			mark = "!"
		}
		lines = append(lines, fmt.Sprintf("%s%s=%s@%s", mark, v.Key, v.Text(), filepath.ToSlash(strings.TrimPrefix(v.Origin.String(), p.dir+string(filepath.Separator)))))
	}
	return lines
}

func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLayers(t *testing.T) {
	p := newPlace(t, map[string]string{
		"etc/config.yaml":                  "grace: 1s\nlimits: {cleanup: 11s, js-timeout: 1s}\napprovals: {deny: [tool:etc]}\n",
		"home/.config/flowrun/config.yaml": "grace: 2s\nhistory: {older-than: 30d, keep: 5, max-size: 1MiB}\napprovals:\n  deny:\n    - tool:user\n  allow: tool:read\nlimits: {js-timeout: 4s}\n",
		"project/.flowrun/config.yaml":     "limits:\n  js-timeout: 3s\napprovals: {deny: [tool:project]}\nx-mine: 1\n",
	})
	p.env["FLOWRUN_LIMITS_MAX_PARALLEL"] = "7"
	p.env["FLOWRUN_APPROVALS_ALLOW"] = "tool:a,tool:b"
	c, err := p.load()
	if err != nil {
		t.Fatal(err)
	}
	same(t, p.list(c),
		"approvals.allow=tool:read@home/.config/flowrun/config.yaml:6",
		"approvals.allow=tool:a@FLOWRUN_APPROVALS_ALLOW",
		"approvals.allow=tool:b@FLOWRUN_APPROVALS_ALLOW",
		"approvals.deny=tool:etc@etc/config.yaml:3",
		"approvals.deny=tool:user@home/.config/flowrun/config.yaml:5",
		"approvals.deny=tool:project@project/.flowrun/config.yaml:3",
		"limits.max-parallel=7@FLOWRUN_LIMITS_MAX_PARALLEL",
		"limits.cleanup=11s@etc/config.yaml:2",
		"limits.js-timeout=3s@project/.flowrun/config.yaml:2",
		"history.keep=5@home/.config/flowrun/config.yaml:2",
		"history.older-than=30d@home/.config/flowrun/config.yaml:2",
		"history.max-size=1048576@home/.config/flowrun/config.yaml:2",
		"grace=2s@home/.config/flowrun/config.yaml:1")
	if c.Duration("grace") != 2*time.Second || c.Number("history.max-size") != 1<<20 || c.Word("history.older-than") != "30d" || c.Duration("limits.call-timeout") != time.Minute {
		t.Error("the values are not what they say")
	}
	p.env["FLOWRUN_GRACE"] = "250"
	p.env["XDG_CONFIG_HOME"] = filepath.Join(p.dir, "elsewhere")
	if c, err := p.load(); err != nil || c.Duration("grace") != 250*time.Millisecond || c.Number("history.keep") != 0 {
		t.Errorf("%v %v", err, p.list(c))
	}
}

// TestServers checks that a server comes as a whole from one layer, and that its secrets
// are not shown.
func TestServers(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/.config/flowrun/config.yaml": "mcpServers:\n  gh: {command: old, args: [x]}\n  own: {url: http://x, headers: {Authorization: secret, Other: $TOKEN}, env: {NODE_OPTIONS: --require ./x.js, GH_TOKEN: t0p, DB: \"postgres://u:pw@h/d\", PAGE: \"https://h/@me\"}}\n",
		"project/.flowrun/settings.json":   `{"theme": "dark", /* as elsewhere */ "mcpServers": {"_comment": "mine", "gh": {"command": "new", "args": ["a", "b"], "oauth": {}}}, "tools": {"discoveryCommand": "./find", "sandbox": true}}`,
	})
	c, err := p.with(config.Options{TrustProject: true})
	if err != nil {
		t.Fatal(err)
	}
	same(t, p.list(c),
		"mcpServers.own.url=http://x@home/.config/flowrun/config.yaml:3",
		"mcpServers.own.headers.Authorization=secret@home/.config/flowrun/config.yaml:3",
		"mcpServers.own.headers.Other=$TOKEN@home/.config/flowrun/config.yaml:3",
		"mcpServers.own.env.NODE_OPTIONS=--require ./x.js@home/.config/flowrun/config.yaml:3",
		"mcpServers.own.env.GH_TOKEN=t0p@home/.config/flowrun/config.yaml:3",
		"mcpServers.own.env.DB=postgres://u:pw@h/d@home/.config/flowrun/config.yaml:3",
		"mcpServers.own.env.PAGE=https://h/@me@home/.config/flowrun/config.yaml:3",
		"mcpServers.gh.command=new@project/.flowrun/settings.json:1",
		"mcpServers.gh.args=a@project/.flowrun/settings.json:1",
		"mcpServers.gh.args=b@project/.flowrun/settings.json:1",
		"tools.discoveryCommand=./find@project/.flowrun/settings.json:1")
	var shown []string
	for _, v := range c.Get("mcpServers.own.headers") {
		shown = append(shown, v.Shown(), fmt.Sprint(v.JSON()))
	}
	same(t, shown, "***", "***", "$TOKEN", "$TOKEN")
	shown = nil
	for _, v := range c.Get("mcpServers.own.env") {
		shown = append(shown, v.Shown())
	}
	same(t, shown, "--require ./x.js", "***", "***", "https://h/@me")
	if c, err = p.load(); err != nil || len(c.Get("tools")) != 0 {
		t.Errorf("an untrusted project: %v %v", err, p.list(c))
	}
	if list := c.Get("mcpServers.gh.command"); len(list) != 1 || list[0].Text() != "old" { // the user's stands
		t.Errorf("%v", p.list(c))
	}
}

// TestSpellings checks that alternative keys act as the preferred one: for trust, for
// overriding, and in lists for programs.
func TestSpellings(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/.config/flowrun/config.yaml": "toolCallCommand: weak\nmcpServerCommand: mine\n",
		"project/.flowrun/settings.json":   `{"mcpServerCommand": "s", "toolDiscoveryCommand": "a", "tools": {"toolCallCommand": "b", "callCommand": "b"}}`,
		"project/.flowrun/config.yaml":     "tools: {toolDiscoveryCommand: c}\n",
	})
	c, err := p.with(config.Options{TrustProject: true})
	if err != nil {
		t.Fatal(err)
	}
	same(t, p.list(c), "mcp.serverCommand=s@project/.flowrun/settings.json:1", "tools.discoveryCommand=c@project/.flowrun/config.yaml:1", "tools.callCommand=b@project/.flowrun/settings.json:1")
	if c, err = p.load(); err != nil || c.Word("tools.discoveryCommand") != "" || c.Word("tools.callCommand") != "weak" || c.Word("mcp.serverCommand") != "mine" {
		t.Errorf("an untrusted project: %v %v", err, p.list(c))
	}
	if list := c.Trust.Ignored(); !slices.Equal(list, []string{"mcp.serverCommand", "tools.discoveryCommand", "tools.callCommand"}) {
		t.Error(list)
	}
	for _, key := range config.Keys() {
		if strings.Contains(key, "toolC") || strings.Contains(key, "toolD") || strings.Contains(key, "mcpServerC") {
			t.Errorf("%s is a key of its own", key)
		}
	}
	p.env["FLOWRUN_TOOLDISCOVERYCOMMAND"], p.env["FLOWRUN_TOOLS_DISCOVERYCOMMAND"] = "evil", "evil"
	if c, _ = p.load(); c.Word("tools.discoveryCommand") != "" {
		t.Error("a variable starts a program")
	}
	p.write("project/.flowrun/config.yaml", "toolCallCommand: x\ntools:\n  callCommand: y\n  toolCallCommand: x\n")
	_, err = p.load()
	found, _ := errors.AsType[tool.Diagnostics](err)
	if len(found) != 1 || found[0].Code != "two-spellings" || found[0].Message != "tools.callCommand and toolCallCommand (line 1) are the same setting but have different values" || found[0].Pos.Line != 3 {
		t.Error(err)
	}
}

func TestProblems(t *testing.T) {
	p := newPlace(t, map[string]string{
		"etc/config.yaml":                  "- a\n",
		"home/.config/flowrun/config.yaml": "grcae: 1s\ngrace: soon\nhistory:\n  keep: 0\n  older-than: never\n  max-size: lots\nlimits: 3\nlimits: {}\nroots: {a: b}\n",
		"project/.flowrun/settings.json":   `{"mcpServers": {"a": {"command": ["x"], "trust": "yes"}}, "tools": {"discoveryCommand": ["x"]}}`,
		"project/.flowrun/config.yaml":     "grace: [1\n",
	})
	p.env["FLOWRUN_HISTORY_KEEP"] = "many"
	p.env["FLOWRUN_HISTORY_OLDER_THAN"] = "x"
	_, err := p.load()
	ds, ok := err.(tool.Diagnostics)
	if !ok {
		t.Fatalf("%T %v", err, err)
	}
	var got []string
	for _, d := range ds {
		got = append(got, strings.TrimPrefix(strings.TrimPrefix(d.Pos.String(), p.dir), "/")+" "+d.Code)
		if d.Message == "" || strings.Contains(d.Message, "definition") {
			t.Errorf("%s", d)
		}
	}
	slices.Sort(got)
	same(t, got,
		"FLOWRUN_HISTORY_KEEP wrong-type",
		"FLOWRUN_HISTORY_OLDER_THAN bad-duration",
		"etc/config.yaml:1:1 wrong-type",
		"home/.config/flowrun/config.yaml:1:1 unknown-key",
		"home/.config/flowrun/config.yaml:2:8 bad-duration",
		"home/.config/flowrun/config.yaml:4:9 out-of-range",
		"home/.config/flowrun/config.yaml:5:15 bad-duration",
		"home/.config/flowrun/config.yaml:6:13 bad-size",
		"home/.config/flowrun/config.yaml:7:9 wrong-type",
		"home/.config/flowrun/config.yaml:8:1 duplicate-key",
		"home/.config/flowrun/config.yaml:9:8 wrong-type",
		"project/.flowrun/config.yaml:1:8 unclosed-bracket",
		"project/.flowrun/settings.json:1:89 wrong-type")
}

// TestKeysOfOtherPrograms holds what config.yaml says of keys with another name in the settings of other programs.
func TestKeysOfOtherPrograms(t *testing.T) {
	p := newPlace(t, map[string]string{"project/.flowrun/config.yaml": "servers: {}\nmcpServers: {a: {command: x, disabledTools: [t]}}\n"})
	_, err := p.load()
	found, _ := errors.AsType[tool.Diagnostics](err)
	var hints []string
	for _, d := range found {
		hints = append(hints, d.Hint)
	}
	same(t, hints, `did you mean "mcpServers"?`, `did you mean "excludeTools"?`)
}

func TestFiles(t *testing.T) {
	p := newPlace(t, map[string]string{"home/.config/flowrun/config.yaml": "# nothing\n", "project/.flowrun/config.yaml": ""})
	c, err := p.load()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range c.Files {
		got = append(got, fmt.Sprintf("%s %s %v", f.Layer, filepath.ToSlash(strings.TrimPrefix(f.Path, p.dir)), f.Exists))
	}
	same(t, got, "project /project/.flowrun/config.yaml true", "project /project/.flowrun/settings.json false",
		"user /home/.config/flowrun/config.yaml true", "system /etc/config.yaml false")
	p.write("etc/config.yaml/x", "") // a folder where the file should be
	if _, err := p.load(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

// TestTrust covers trust by folder and by the digest of the settings.
func TestTrust(t *testing.T) {
	p := newPlace(t, map[string]string{"project/.flowrun/config.yaml": "roots: [/data]\nhistory: {keep: 1}\ngrace: 1s\n"})
	state := filepath.Join(p.dir, "state")
	expect := func(what string, s config.State, keep int64) *config.Config {
		t.Helper()
		c, err := p.load()
		if err != nil || c.Trust.State != s || c.Number("history.keep") != keep || c.Duration("grace") == 0 {
			t.Errorf("%s: %v, %q, %v", what, err, c.Trust.State, p.list(c))
		}
		return c
	}
	c := expect("at first", config.Undecided, 0)
	same(t, c.Trust.Ignored(), "roots", "history.keep")
	if err := c.Decide(state, true); err != nil || c.Number("history.keep") != 1 || c.Trust.Ignored() != nil {
		t.Errorf("%v %v", err, p.list(c))
	}
	expect("trusted", config.Trusted, 1)
	p.write("project/.flowrun/config.yaml", "grace: 2s\nhistory: {keep: 1}\n# moved\n\nroots: [/data]\n")
	expect("in another order", config.Trusted, 1)
	p.write("project/.flowrun/config.yaml", "history: {keep: 1}\n")
	expect("with one setting removed", config.Trusted, 1)
	p.write("project/.flowrun/config.yaml", "grace: 2s\n")
	expect("with all removed", config.Trusted, 0)
	p.write("project/.flowrun/config.yaml", "history: {keep: 1, max-size: 1MB}\n")
	expect("with a setting added to a section", config.Changed, 0)
	p.write("project/.flowrun/config.yaml", "history: {keep: 1}\nserve: {tools: [a]}\n")
	expect("with a section added", config.Changed, 0)
	p.write("project/.flowrun/config.yaml", "history: {keep: 1}\nroots: [/data, /etc]\n")
	expect("with an element added", config.Changed, 0)
	p.write("project/.flowrun/config.yaml", "history: {keep: 1}\nroots: [/data]\n")
	c, _ = p.load()
	if err := c.Decide(state, false); err != nil {
		t.Error(err)
	}
	expect("declined", config.Declined, 0)
	p.write("project/.flowrun/config.yaml", "grace: 5s\nhistory: {keep: 1}\nroots: [/data]\n")
	expect("declined, and another setting changed", config.Declined, 0)
	if c, _ := p.with(config.Options{TrustProject: true}); c.Number("history.keep") != 1 {
		t.Error("--trust-project has no effect")
	}
	list, err := config.Records(state)
	real, _ := filepath.EvalSymlinks(filepath.Join(p.dir, "project"))
	if err != nil || len(list) != 1 || list[0].Folder != real || list[0].Trusted {
		t.Errorf("%v %+v", err, list)
	}
	files, _ := filepath.Glob(filepath.Join(state, "trust", "*"))
	if len(files) != 1 {
		t.Errorf("%v", files)
	}
	if info, err := os.Stat(files[0]); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	// The same settings in another folder are another project.
	p.write("other/.flowrun/config.yaml", "grace: 5s\nhistory: {keep: 1}\nroots: [/data]\n")
	if c, err := config.Load(config.Options{WorkingDirectory: filepath.Join(p.dir, "other"), StateDir: state, Home: p.dir, Getenv: func(string) string { return "" }}); err != nil || c.Trust.State != config.Undecided {
		t.Errorf("%v %v", err, c.Trust)
	}
	if found, err := config.Forget(state, filepath.Join(p.dir, "project")); !found || err != nil {
		t.Error(found, err)
	}
	expect("forgotten", config.Undecided, 0)
	if found, err := config.Forget(state, filepath.Join(p.dir, "project")); found || err != nil {
		t.Error(found, err)
	}
}

// TestSchema compares the JSON Schema with the reader of the files.
func TestSchema(t *testing.T) {
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	for src, valid := range map[string]bool{
		`{}`:                            true,
		`{"grace": 500, "x-own": {}}`:   true,
		`{"grace": "1m30s"}`:            true,
		`{"grace": "soon"}`:             false,
		`{"grace": 0}`:                  false,
		`{"grace": [1]}`:                false,
		`{"graze": 1}`:                  false,
		`{"history": {"keep": 1}}`:      true,
		`{"history": {"keep": 0}}`:      false,
		`{"history": {"keep": "1"}}`:    false,
		`{"history": 3}`:                false,
		`{"history": {"kep": 3}}`:       false,
		`{"limits": {"js-memory": 1}}`:  true,
		`{"limits": {"js-memory": ""}}`: false,
		`{"approvals": {"allow": "*", "deny": ["tool:x", "tool:y"]}}`: true,
		`{"approvals": {"allow": {}}}`:                                false,
		`{"roots": ["/a"]}`:                                           true,
		`{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"A": "b"}, "trust": true}}}`:           true,
		`{"mcpServers": {"a": {"trust": "true"}}}`:                                                           false,
		`{"mcpServers": {"a": {"comand": "x"}}}`:                                                             false,
		`{"mcpServers": {"a": {"env": {"A": [1]}}}}`:                                                         false,
		`{"tools": {"discoveryCommand": "a", "callCommand": "b"}}`:                                           true,
		`{"tools": {"toolDiscoveryCommand": "a", "toolCallCommand": "b", "callStderr": "fail"}}`:             true,
		`{"toolDiscoveryCommand": "a", "toolCallCommand": "b"}`:                                              true,
		`{"mcp": {"allowed": ["a"], "excluded": ["b"], "mcpServerCommand": "x y"}}`:                          true,
		`{"mcpServerCommand": "x y"}`:                                                                        true,
		`{"mcp": {"allowed": {}}}`:                                                                           false,
		`{"tools": {"callStderr": "perhaps"}}`:                                                               false,
		`{"tools": {"discovery": "a"}}`:                                                                      false,
		`{"mcpServers": {"a": {"timeout": 600000, "includeTools": ["x"], "headers": {"H": "v"}}}, "x-a": 1}`: true,
	} {
		var v any
		if err := json.Unmarshal([]byte(src), &v); err != nil {
			t.Fatal(err)
		}
		_, _, found := keytable.DecodeSettings(config.Table, "config.yaml", []byte(src))
		if bySchema, byCode := schema.Validate(v) == nil, found.Err() == nil; bySchema != valid || byCode != valid {
			t.Errorf("%s: the schema says %v, the reader %v (%v)", src, bySchema, byCode, found)
		}
	}
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte("grace: 1s\nroots: [a]\nmcpServers: {a: {env: {B: c}}}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("mcpServers: {a: &a {transport: *a}}\nservers: &b {c: *b}\n"))
	f.Add([]byte(`{"servers": [{"name": "a", "command": ["x", "y"], "env": ["A=1"], "transport": {"type": "stdio"}, "timeout": "x"}, 1], "mcp": {"b": {"cmd": "x", "env": {"A": null}}, "servers": {"c": {"tools": "*"}}}}`))
	f.Add([]byte("history: {<<: {keep: 1}}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, table := range []*keytable.Object{config.Table, config.SharedTable} {
			list, objects, found := keytable.DecodeSettings(table, "config.yaml", src)
			for _, s := range list {
				if s.Path() == "" || s.Pos.Line < 1 {
					t.Errorf("%+v", s)
				}
			}
			for _, o := range objects {
				found = append(found, o.LeftOut...)
			}
			for _, d := range found {
				if d.Message == "" || d.Pos.File == "" {
					t.Errorf("%+v", d)
				}
			}
		}
	})
}

func TestAge(t *testing.T) {
	for in, want := range map[string]time.Duration{"": 0, "30d": 720 * time.Hour, "2w1d": 360 * time.Hour, "1h30m": 90 * time.Minute, "1d12h": 36 * time.Hour} {
		if got, err := config.Age(in); err != nil || got != want {
			t.Errorf("%q: %v %v", in, got, err)
		}
	}
	for _, in := range []string{"x", "-1h", "d", "1.5d", "99999d", "3"} {
		if got, err := config.Age(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// TestWebhooks checks values, defaults and missing secrets.
func TestWebhooks(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/.config/flowrun/config.yaml": `
webhooks:
  github: {tool: deploy, secret-env: GITHUB_SECRET, scheme: hmac-sha256, params: {REPO: /repository/full_name, ALL: ""}}
  plain: {tool: hello, secret-file: secret.txt, header: X-Mine, body-param: BODY, delivery-header: X-Id}
`,
		"home/.config/flowrun/secret.txt": "from a file\n",
		"project/.flowrun/config.yaml":    "webhooks: {plain: {tool: evil, secret-env: HOME}}\n",
	})
	env := map[string]string{"GITHUB_SECRET": "from a variable", "HOME": "/home/somebody"}
	getenv := func(name string) string { return env[name] }
	c, err := p.load()
	if err != nil {
		t.Fatal(err)
	}
	if c.Trust.State != config.Undecided || !slices.Contains(c.Trust.Ignored(), "webhooks.plain") {
		t.Errorf("%+v", c.Trust)
	}
	show := func() (lines []string) {
		list, err := c.Webhooks(getenv)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range list {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %s %q %v %s", h.Name, h.Tool, h.Secret, h.Scheme, h.Header, h.BodyParam, h.Params, h.DeliveryHeader))
		}
		return lines
	}
	github := `github deploy from a variable hmac-sha256 X-Hub-Signature-256 "" map[ALL: REPO:/repository/full_name] X-GitHub-Delivery`
	same(t, show(), github, `plain hello from a file token X-Mine "BODY" map[] X-Id`)
	if c, err = p.with(config.Options{TrustProject: true}); err != nil {
		t.Fatal(err)
	}
	same(t, show(), github, `plain evil /home/somebody token X-Flowrun-Token "" map[] `)

	env["GITHUB_SECRET"], env["HOME"] = "short", ""
	_, err = c.Webhooks(getenv)
	if err == nil || !strings.Contains(err.Error(), "webhook github") || !strings.Contains(err.Error(), "webhook plain") || strings.Contains(err.Error(), "short") {
		t.Error(err)
	}
}

// TestWebhookProblems checks that all problems are reported together, with their locations.
func TestWebhookProblems(t *testing.T) {
	p := newPlace(t, map[string]string{"home/.config/flowrun/config.yaml": `webhooks:
  a/b: {tool: t, secret-env: X}
  both: {tool: t, secret-env: X, secret-file: y}
  neither: {tool: t}
  aimless: {secret-env: X}
  odd: {tool: t, secret-env: X, scheme: md5, header: "a b", params: {P: here}, sercet: x}
`})
	_, err := p.load()
	var found tool.Diagnostics
	if !errors.As(err, &found) {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range found {
		lines = append(lines, fmt.Sprintf("%d %s %s", d.Pos.Line, d.Code, d.Message))
	}
	same(t, lines,
		`2 bad-webhook invalid webhook name "a/b": the name is part of a URL`,
		`3 bad-webhook the webhook both needs either secret-env or secret-file`,
		`4 bad-webhook the webhook neither needs either secret-env or secret-file`,
		`5 bad-webhook the webhook aimless has no tool`,
		`6 bad-choice unknown value "md5"`,
		`6 bad-webhook "a b" is not a valid header name`,
		`6 bad-webhook "here" is not a JSON Pointer`,
		`6 unknown-key unknown key "sercet" in a webhook`)
}

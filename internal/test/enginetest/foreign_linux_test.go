package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/steps/egress"
)

// The secrets of the server that runs definitions of others, in a file and in its environment. No definition may learn them.
const (
	fileSecret = "secret-in-a-file-of-the-server"
	envSecret  = "secret-in-the-environment"
)

// hostServer is a program that runs definitions of others: its files, what listens on its machine, and what reaches it.
type hostServer struct {
	*testing.T
	dir, port string
	reached   atomic.Int32 // how often a definition reached what it must not reach
	foreign   engine.Foreign
}

func newHostServer(t *testing.T) *hostServer {
	enforcedFolder(t) // skips
	s := &hostServer{T: t, dir: openFolder(t)}
	t.Setenv("HOST_SECRET", envSecret)
	for name, text := range map[string]string{
		"own/secret":                       fileSecret,
		"own/.env":                         "TOKEN=" + fileSecret + "\n",
		"own/tool.yaml":                    "name: own-tool\ndescription: " + fileSecret + "\nbash: echo " + fileSecret + "\n",
		"own/bad.yaml":                     "name: bad\n" + fileSecret + "\n",
		"own/.flowrun/tools/of-owner.yaml": "name: of-owner\ndescription: Of the owner\nbash: echo " + fileSecret + "\n",
	} {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(s.dir, "own"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.reached.Add(1)
			c.Close()
		}
	}()
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	inGo := func(name string) *tool.Definition {
		return gostep.GoTool{Name: name, Description: name, Run: func(context.Context, *gostep.StepInput) (any, error) {
			if name == "admin" {
				s.reached.Add(1)
			}
			return "of " + name, nil
		}}.Definition()
	}
	s.foreign = engine.Foreign{
		Permissions: []string{"filesystem:read:in", "filesystem:write:out", "network:external:api.example.com", "tool:price"},
		Tools:       []*tool.Definition{inGo("price"), inGo("admin")},
		Limits:      tool.Resources{MaxOutput: 1 << 20},
		MaxSteps:    50,
		Timeout:     5 * time.Minute,
	}
	return s
}

// engine returns the Engine that runs definitions of others.
func (s *hostServer) engine() *engine.Engine {
	return engine.New(engine.Config{StateDir: filepath.Join(s.dir, "state"), Foreign: &s.foreign, AllowUnenforced: true,
		Egress: egress.Serve,
		Fetch: func(_ context.Context, r call.FetchRequest) (*call.FetchAnswer, error) {
			if !strings.HasPrefix(r.URL, "https://api.example.com/") {
				s.reached.Add(1)
			}
			body := r.Body
			if r.Open != nil {
				in, _, err := r.Open()
				if err != nil {
					return nil, err
				}
				defer in.Close()
				if body, err = io.ReadAll(in); err != nil {
					return nil, err
				}
			}
			return &call.FetchAnswer{URL: r.URL, Status: 200, Body: body}, nil
		},
		AskModel: func(context.Context, call.ModelRequest) (string, error) { s.reached.Add(1); return "", nil },
	})
}

// workspace returns the folder of one customer.
func (s *hostServer) workspace() string {
	dir, err := os.MkdirTemp(s.dir, "customer-")
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "in"), 0o755), os.Mkdir(filepath.Join(dir, "out"), 0o755),
			os.WriteFile(filepath.Join(dir, "in/a"), []byte("of in"), 0o644))
	}
	if err != nil {
		s.Fatal(err)
	}
	return dir
}

// try compiles and runs a definition, and returns how it ended, with the messages. all is everything that its author can see.
func (s *hostServer) try(e *engine.Engine, file, text string) (outcome, all string) {
	p, err := e.CompileForeign(file, []byte(text))
	if err != nil {
		return "invalid: " + err.Error(), err.Error()
	}
	var events []string
	res, err := e.Run(context.Background(), p, nil, engine.WithRunEnv(engine.RunEnv{Workspace: s.workspace()}), engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		b, _ := json.Marshal(e)
		events = append(events, string(b))
	})))
	if err != nil {
		return "refused: " + err.Error(), err.Error()
	}
	doc, err := json.Marshal(res)
	if err != nil {
		s.Fatal(err)
	}
	outcome = fmt.Sprintf("%s: %s %s", res.Status, res.Output, res.Message)
	for _, step := range res.Steps {
		outcome += "\n" + step.Message + "\n" + step.Error
	}
	return outcome, string(doc) + strings.Join(events, "\n")
}

// everything is a definition that lists all permissions.
const everything = "security: {required-permissions: ['filesystem:read:/', 'filesystem:write:/', 'filesystem:execute:/', network, 'environment:HOST_SECRET', 'tool:*', model]}\n"

// TestForeign runs what people may write who want more than the server lets them have. OWN is the folder of the server, PORT
// a port of its machine, PID its process.
func TestForeign(t *testing.T) {
	s := newHostServer(t)
	e := s.engine()
	long := strings.Repeat("  - bash: 'true'\n", 60)
	cases := []struct{ name, text, want string }{
		// Nothing is taken from those who want no more.
		{"compute", "bash: echo $((6 * 7))", "succeeded: 42"},
		{"read what is granted", everything + "bash: cat in/a", "succeeded: of in"},
		{"write what is granted", everything + "bash: echo x >out/x && cat out/x", "succeeded: x"},
		{"temporary files", "bash: 'f=$(mktemp) && echo x >$f && cat $f'", "succeeded: x"},
		{"a script", "steps: [{name: a, js: 'return 6 * 7'}]", "succeeded: 42"},
		{"a tool of the program", everything + "steps: [{name: a, use-tool: price}]", "succeeded: of price"},
		{"a request that is granted", everything + "steps: [{name: a, http: {url: 'https://api.example.com/x', body: hello}}]", "succeeded: hello"},
		{"a lock", "locks: [mine]\nbash: echo x", "succeeded: x"},
		{"home", "bash: echo {HOME} ~ | grep -c OWN", "failed: 0"},

		// Files.
		{"read a file", "bash: cat OWN/secret", "failed: "},
		{"read it with all permissions", everything + "bash: cat OWN/secret", "failed: "},
		{"read it in Python", everything + "python: print(open('OWN/secret').read())", "failed: "},
		{"read it in JavaScript", everything + "steps: [{name: a, js: 'return require(\"fs\").readFileSync(\"OWN/secret\", \"utf8\")'}]", "failed: "},
		{"read it without enforcement", "security: {enforce: false, isolation: none, required-permissions: ['filesystem:read:/']}\nbash: cat OWN/secret", "failed: "},
		{"read it through a link", everything + "bash: ln -s OWN/secret out/link && cat out/link", "failed: "},
		{"keep it as an artifact", everything + "steps: [{name: a, bash: 'ln -s OWN out/link; ln -s OWN/secret out/file', artifacts: [out/**]}]", ""},
		{"keep it as an artifact by its path", everything + "steps: [{name: a, bash: 'true', artifacts: [OWN/secret]}]", ""},
		{"read it in a handler", everything + "steps: [{name: a, bash: exit 1}]\non-failure: [{name: h, bash: cat OWN/secret}]", "failed: "},
		{"read it in a cleanup", everything + "resources: {cleanup: [{final-command: 'cat OWN/secret'}]}\nbash: 'true'", ""},
		{"read it in a fallback", everything + "steps: [{name: a, bash: exit 1, error-handling: {fallback: 'cat OWN/secret'}}]", "failed: "},
		{"start in the folder", everything + "working-directory: OWN\nbash: cat secret; ls", "failed: "},
		{"send it", everything + "steps: [{name: a, http: {url: 'https://api.example.com/x', file: OWN/secret}}]", "failed: "},
		{"save a response there", everything + "steps: [{name: a, http: {url: 'https://api.example.com/x', body: x, save-as: OWN/stolen}}]", "failed: "},
		{"an env file", everything + "env-files: [OWN/.env]\nbash: echo $TOKEN", "refused: "},
		{"an env file of a step", everything + "steps: [{name: a, env-files: [OWN/.env], bash: echo $TOKEN}]", "failed: "},
		{"a secret in a file", everything + "environment: {secrets: [{name: T, file: OWN/secret}]}\nbash: echo $T | rev", "refused: "},
		{"a secret of a command", everything + "environment: {secrets: [{name: T, command: cat OWN/secret}]}\nbash: echo $T | rev", "refused: "},
		{"a secret of a command that copies", everything + "environment: {secrets: [{name: T, command: cp OWN/secret OWN/stolen}]}\nbash: echo $T", "refused: "},
		{"an output file", everything + "steps: [{name: a, bash: echo x, output: {mode: stream, stream-callback: file, file: OWN/stolen}}]", "failed: "},
		{"write a file", everything + "bash: echo x >OWN/stolen", "failed: "},
		{"wait for a file", everything + "steps: [{name: a, wait: {file: OWN/secret}, timeout: 20s}]", "failed: "},
		{"a temporary folder", everything + "file-paths: {temp-directory: OWN/stolen}\nbash: echo {TEMP}", "invalid: closed-key"},
		{"the cache", everything + "steps: [{name: a, bash: cat OWN/secret, cache: {inputs: [OWN/secret]}}]", "invalid: closed-key"},

		// The environment.
		{"a variable", everything + "bash: echo $HOST_SECRET.", "succeeded: ."},
		{"a placeholder", "bash: echo {env.HOST_SECRET}.", "succeeded: ."},
		{"a secret of a variable", "environment: {secrets: [{name: T, env: HOST_SECRET}]}\nbash: echo $T | sed 's/./&./g'", "refused: "},
		{"a default", "parameters: {P: {type: string, description: P, default: '{env.HOST_SECRET}'}}\nbash: echo {P} | rev", ""},
		{"a variable of the definition", "environment: {variables: {T: '{env.HOST_SECRET}'}}\nbash: echo $T.", "succeeded: ."},
		{"the process", everything + "bash: tr '\\0' '\\n' </proc/PID/environ", "failed: "},
		{"a variable in JavaScript", everything + "steps: [{name: a, js: 'return env.HOST_SECRET + \".\"'}]", "succeeded: undefined."},

		// The network, and other processes.
		{"connect", everything + "bash: exec 3<>/dev/tcp/127.0.0.1/PORT", "failed: "},
		{"wait for a port", everything + "steps: [{name: a, wait: {port: '127.0.0.1:PORT'}, timeout: 20s}]", "failed: "},
		{"wait for an address", everything + "steps: [{name: a, wait: {http: 'http://127.0.0.1:PORT/'}, timeout: 20s}]", "failed: "},
		{"a request", everything + "steps: [{name: a, http: {url: 'http://127.0.0.1:PORT/'}}]", "failed: "},
		{"fetch", everything + "steps: [{name: a, js: 'return (await fetch(\"http://169.254.169.254/\")).status'}]", "failed: "},
		{"end the server", everything + "bash: kill -KILL PID", "failed: "},
		{"outlive the run", everything + "steps: [{name: a, bash: 'sleep 1000 &', detach: true}]", "invalid: closed-key"},
		{"outlive the run in a group", "steps: [{name: g, steps: [{name: a, bash: 'sleep 1000 &', detach: true}]}]", "invalid: closed-key"},
		{"outlive the run in a handler", "steps: [{name: a, bash: 'true'}]\nfinally: [{name: h, bash: 'sleep 1000 &', detach: true}]", "invalid: closed-key"},
		{"a container", everything + "steps: [{name: a, bash: id, container: {image: debian}}]", "invalid: closed-key"},
		{"isolation in a container", everything + "security: {isolation: container}\nbash: id", "invalid: "},
		{"only isolation in a container", "security: {isolation: container}\nbash: id", "invalid: closed-key"},
		{"more rights", "security: {execution-privilege: elevated}\nbash: id", "invalid: closed-key"},
		{"another machine", everything + "steps: [{name: a, bash: id, ssh: {host: example.com}}]", "invalid: closed-key"},
		{"the terminal", "steps: [{name: a, bash: 'read x </dev/tty', interactive: true}]", "invalid: closed-key"},
		{"a function of the server", "steps: [{name: a, bash: echo x, output: {mode: stream, stream-callback: function}}]", "refused: "},

		// Other tools.
		{"a tool by its path", "steps: [{name: a, use-tool: OWN/tool.yaml}]", "invalid: "},
		{"a tool by a relative path", "steps: [{name: a, use-tool: ./tool.yaml}]", "invalid: "},
		{"what is wrong with a file", "steps: [{name: a, use-tool: OWN/bad.yaml}]", "invalid: "},
		{"a tool of the owner", "steps: [{name: a, use-tool: of-owner}]", "invalid: "},
		{"a tool that a page uses", "PAGE", "invalid: unknown-tool"},
		{"an alias of a file", "type: alias\nbase-tool: OWN/tool.yaml", "invalid: "},
		{"a tool that is not granted", everything + "steps: [{name: a, use-tool: admin}]", "failed: step a failed"},
		{"a call that is not granted", everything + "steps: [{name: a, js: 'return await api.callTool(\"admin\", {})'}]", "failed: "},
		{"a language model", everything + "steps: [{name: a, js: 'return await api.askModel({prompt: \"x\"})'}]", "failed: "},

		// Amounts.
		{"many steps", "steps:\n" + long, "invalid: "},
		{"many items", "steps: [{name: a, bash: 'true', for-each: {items: 1..1000000000}}]", ""},
		{"an endless script", "steps: [{name: a, js: 'while (true) {}', timeout: 1s}]", "failed: step a timed out"},
		{"endless output", "bash: yes", "failed: "},
		{"aliases in YAML", "x-a: &a [x, x, x, x, x, x, x, x, x]\nx-b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nx-c: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nx-d: &d [*c, *c, *c, *c, *c, *c, *c, *c]\nx-e: &e [*d, *d, *d, *d, *d, *d, *d]\nx-f: [*e, *e, *e, *e, *e, *e, *e, *e]\nbash: echo x", ""},
		{"deep nesting", "x-a: " + strings.Repeat("[", 100_000), "invalid: "},
	}
	replace := strings.NewReplacer("OWN", filepath.Join(s.dir, "own"), "PORT", s.port, "PID", fmt.Sprint(os.Getpid()))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			file, text := "order.yaml", "name: order\ndescription: Order\n"+c.text+"\n"
			if c.text == "PAGE" {
				file, text = "order.md", "---\ntool: true\ntype: single\nname: order\ndescription: Order\n---\n\n```yaml\ntool: OWN/tool.yaml\n```\n"
			}
			outcome, all := s.try(e, file, replace.Replace(text))
			kind, says, _ := strings.Cut(c.want, ": ")
			if kind != "" && (!strings.HasPrefix(outcome, kind+": ") || !strings.Contains(outcome, says)) {
				t.Errorf("%s\nwant %s", outcome, c.want)
			}
			for _, secret := range []string{fileSecret, envSecret, reversed(fileSecret), reversed(envSecret)} {
				if strings.Contains(all, secret) {
					t.Errorf("the author sees %q:\n%s", secret, all)
				}
			}
			if n := s.reached.Swap(0); n > 0 {
				t.Errorf("it reached what it must not reach %d times", n)
			}
			if _, err := os.Lstat(filepath.Join(s.dir, "own/stolen")); err == nil {
				t.Error("it has made a file of the server")
			}
		})
	}
	if bad := filesWith(t, filepath.Join(s.dir, "state"), []byte(fileSecret)); len(bad) > 0 {
		t.Errorf("%v have the secret", bad)
	}
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// A run of others ends in time, and is not started in other ways.
func TestForeignRuns(t *testing.T) {
	s := newHostServer(t)
	s.foreign.Timeout = time.Second
	e := s.engine()
	if outcome, _ := s.try(e, "order.yaml", "name: order\ndescription: Order\nbash: sleep 1000\n"); !strings.HasPrefix(outcome, "timed-out") {
		t.Error(outcome)
	}
	p, err := e.CompileForeign("order.yaml", []byte("name: order\ndescription: Order\nbash: echo\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "workspace") {
		t.Error(err)
	}
	args, err := p.Bind(engine.RunEnv{Workspace: s.workspace()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.RunBound(t.Context(), args); err == nil {
		t.Error("bound parameters may hold values of the environment")
	}
	open := compile(t, s.dir, "name: open\ndescription: Open\nsteps: [{name: a, bash: echo, cache: {}}]\n")
	if _, err := e.Run(t.Context(), open, nil, engine.WithRunEnv(engine.RunEnv{Workspace: s.workspace()})); err == nil || !strings.Contains(err.Error(), "cache") {
		t.Error(err)
	}
	if _, err := e.CompileForeign("order.yaml", []byte("name: tea\ndescription: Tea\nbassh: echo\n")); err == nil || strings.Contains(err.Error(), "its file") {
		t.Errorf("the problems must not be about the name of a file that does not exist: %v", err)
	}
	if _, err := engine.New(engine.Config{}).CompileForeign("order.yaml", nil); err == nil {
		t.Error("this engine is not closed")
	}
}

// What others run at once is as closed as what they run alone.
func TestForeignAtOnce(t *testing.T) {
	s := newHostServer(t)
	e := s.engine()
	text := "name: order\ndescription: Order\n" + everything + "steps: [{name: a, use-tool: price}, {name: b, bash: 'cat " + s.dir + "/own/secret || echo closed'}]\noutput: '{a.output} {b.output}'\n"
	n := sizetest.Of(8, 20, 100)
	outcomes := make(chan string, n)
	for range n {
		go func() { outcome, _ := s.try(e, "order.yaml", text); outcomes <- outcome }()
	}
	for range n {
		if outcome := <-outcomes; !strings.HasPrefix(outcome, "succeeded: of price closed") {
			t.Error(outcome)
		}
	}
}

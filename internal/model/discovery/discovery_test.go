package discovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/discovery"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// discover runs a script as the discoveryCommand, with sh: a program that was just written
// may fail to start while another goroutine forks (golang.org/issue/22315).
func discover(t *testing.T, script string) ([]*tool.Definition, []string, error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for sh")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tools.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return discovery.Discover(t.Context(), discovery.Config{DiscoveryCommand: "sh ./tools.sh 'a b'", CallCommand: "sh call.sh --deep", Dir: dir})
}

func TestDiscover(t *testing.T) {
	tools, warnings, err := discover(t, `pwd >&2; echo '[{"name":"one","description":"'"$1"'"},{"nam":1}]'`)
	if err != nil || len(tools) != 1 || len(warnings) != 1 {
		t.Fatal(tools, warnings, err)
	}
	d := tools[0]
	if d.Name != "one" || d.Description != "a b" || len(d.Tags) != 0 {
		t.Errorf("%+v", d)
	}
	call := d.Steps[0].Body.(*tool.ProgramCall)
	if want := []string{"sh", "call.sh", "--deep", "one"}; !slices.Equal(call.Argv, want) || call.Dir == "" {
		t.Errorf("%+v, want %q", call, want)
	}
}

func TestDiscoverFails(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"exit code":     {`echo '[]'; echo "no such 'tool'" >&2; exit 3`, `tools.discoveryCommand ("sh"): it failed with exit code 3; it printed "no such 'tool'"`},
		"signal":        {`kill -9 $$`, `it was terminated by signal 9 (killed)`},
		"nothing":       {`:`, `it printed nothing; expected a JSON array`},
		"an object":     {`echo '{"name":"x"}'`, `it printed "{\"name\":\"x\"}"; expected a JSON array`},
		"text":          {`echo Traceback; seq 100`, `it printed "Traceback\n1\n2`},
		"cut off":       {`echo '[{"name":"x"'`, `it printed invalid JSON: unexpected end of JSON input, at byte 12`},
		"two":           {`echo '[] []'`, `it printed invalid JSON: invalid character '[' after top-level value`},
		"long error":    {`seq 1000 >&2; exit 1`, `...`},
		"broken UTF-8":  {`printf '\377oops' >&2; exit 1`, `"oops"`},
		"much output":   {`yes '[{"name":"x"}]'`, `it printed more than 10 MB of output`},
		"many errors":   {`yes no >&2`, `it printed more than 10 MB of errors; it printed "no\nno`},
		"much, quickly": {`head -c 10485761 /dev/zero`, `it printed more than 10 MB of output`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools, _, err := discover(t, c.script)
			if err == nil || !strings.Contains(err.Error(), c.want) || tools != nil {
				t.Errorf("%v\nwant %s", err, c.want)
			}
			if err != nil && len(err.Error()) > 1500 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

// TestLimitIsForBothStreams checks that output up to the limit is read.
func TestLimitIsForBothStreams(t *testing.T) {
	tools, _, err := discover(t, `head -c 10485757 /dev/zero >&2; printf '[{"name":"x"}]'; head -c 10485746 /dev/zero | tr '\0' ' '`)
	if err != nil || len(tools) != 1 {
		t.Fatal(tools, err)
	}
}

func TestDiscoverNeedsTwoCommands(t *testing.T) {
	for _, c := range []struct{ discovery, call, want string }{
		{`list "`, `call`, `tools.discoveryCommand: the quote " is not closed`},
		{`list`, `call 'x`, `tools.callCommand: the quote ' is not closed`},
		{`list`, ``, `tools.callCommand is not`},
		{`there-is-no-such-program --list`, `call`, `("there-is-no-such-program"): the program was not found in PATH`},
		{`./nowhere.sh`, `call`, `no such file or directory`},
	} {
		_, _, err := discovery.Discover(t.Context(), discovery.Config{DiscoveryCommand: c.discovery, CallCommand: c.call, Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestDiscoverIsStopped checks that no process of the command survives its timeout, even a
// child that ignores TERM.
func TestDiscoverIsStopped(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "alive")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	go func() {
		waittest.Holds(waittest.Limit, func() bool { return exists(alive) })
		cancel(why)
	}()
	_, _, err := discovery.Discover(ctx, discovery.Config{CallCommand: "x", Dir: t.TempDir(),
		DiscoveryCommand: fmt.Sprintf(`sh -c "(trap '' TERM; while :; do sleep 0.01; done) & echo $! > %[1]s.new; mv %[1]s.new %[1]s; wait"`, alive)})
	if !errors.Is(err, why) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(alive)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	child, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if child.Signal(syscall.Signal(0)) == nil && !strings.Contains(string(stat), ") Z ") {
		t.Error("a child lives on")
	}
}

// TestLeftovers checks that background processes of the command neither delay discovery nor
// survive it.
func TestLeftovers(t *testing.T) {
	tools, _, err := discover(t, `sleep 100 & echo '[{"name":"x"}]'`)
	if err != nil || len(tools) != 1 { // a command that ends late is an error
		t.Fatal(tools, err)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func TestRead(t *testing.T) {
	const object = `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}`
	for name, c := range map[string]struct {
		in     string
		names  string // of what was found
		schema string // of the first
		warned []string
	}{
		"none":                    {`[]`, "", "", nil},
		"byte order mark":         {"\ufeff [ ]\n", "", "", nil},
		"bare":                    {`[{"name":"x","parametersJsonSchema":` + object + `}]`, "x", object, nil},
		"parameters":              {`[{"name":"x","parameters":` + object + `}]`, "x", object, nil},
		"inputSchema":             {`[{"name":"x","inputSchema":` + object + `}]`, "x", object, nil},
		"input_schema":            {`[{"name":"x","input_schema":` + object + `}]`, "x", object, nil},
		"the first that is one":   {`[{"name":"x","input_schema":{},"parametersJsonSchema":null,"parameters":` + object + `}]`, "x", object, nil},
		"no schema":               {`[{"name":"x"}]`, "x", `{"type":"object","properties":{}}`, nil},
		"Gemini, snake":           {`[{"function_declarations":[{"name":"x"},{"name":"y"}]},{"name":"z"}]`, "x y z", "", nil},
		"Gemini, camel":           {`[{"functionDeclarations":[{"name":"x"}]}]`, "x", "", nil},
		"both":                    {`[{"functionDeclarations":[{"name":"x"}],"function_declarations":[{"name":"y"}]}]`, "y x", "", nil},
		"OpenAI":                  {`[{"type":"function","function":{"name":"x","parameters":` + object + `}}]`, "x", object, nil},
		"OpenAI, flat":            {`[{"type":"function","name":"x","parameters":` + object + `}]`, "x", object, nil},
		"upper-case types":        {`[{"name":"x","parameters":{"type":"OBJECT","properties":{"type":{"type":"STRING","enum":["STRING"]},"a":{"type":"ARRAY","items":{"type":"NUMBER"}}}}}]`, "x", `{"type":"object","properties":{"type":{"type":"string","enum":["STRING"]},"a":{"type":"array","items":{"type":"number"}}}}`, nil},
		"types in a list":         {`[{"name":"x","parameters":{"anyOf":[{"type":["STRING","NULL"]}],"default":{"type":"STRING"}}}]`, "x", `{"anyOf":[{"type":["string","null"]}],"default":{"type":"STRING"}}`, nil},
		"digits stay":             {`[{"name":"x","parameters":{"type":"OBJECT","maxProperties":9007199254740993}}]`, "x", `{"type":"object","maxProperties":9007199254740993}`, nil},
		"unnamed":                 {`[{"description":"d"},{"name":""},{"name":7},{"name":"x"}]`, "x", "", []string{"item 1 was ignored: it has no name", "item 2", "item 3"}},
		"no object":               {`[7,null,"x",[],{"name":"x"}]`, "x", "", []string{"item 1 was ignored: a declaration must be an object", "item 2", "item 3", "item 4"}},
		"a bad name":              {`[{"name":"../x"},{"name":"a b"},{"name":"\u001b[2J"}]`, "", "", []string{`tool "../x" was ignored: invalid name`, `tool "a b"`, `tool "\x1b[2J"`}},
		"other case is other key": {`[{"Name":"x"}]`, "", "", []string{"item 1 was ignored: it has no name"}},
		"twice":                   {`[{"name":"x","description":"1"},{"name":"x"}]`, "x", "", []string{`tool "x" was ignored: an earlier declaration has the same name`}},
		"a part of a bad schema":  {`[{"name":"x","parameters":{"properties":{"a":{"type":"thing"},"b":{"pattern":"^(?!x)"}}}}]`, "x", `{"properties":{"a":{},"b":{}}}`, []string{`tool "x" is used without a part of its schema, which its program has to check: properties/a/type, properties/b/pattern`}},
		"another dialect":         {`[{"name":"x","parameters":{"$schema":"http://json-schema.org/draft-04/schema#","required":["a","a"]}}]`, "x", `{"$schema":"http://json-schema.org/draft-07/schema#","required":["a"]}`, nil},
		"no type":                 {`[{"name":"x","parameters":{"type":null,"properties":null}}]`, "x", `{}`, nil},
		"an unknown type":         {`[{"name":"x","parameters":{"type":"thing"}}]`, "", "", []string{`not "thing"`}},
		"no object's parameters":  {`[{"name":"x","parameters":{"type":"ARRAY"}}]`, "", "", []string{`tool "x" was ignored: its schema must have the type object, not "array"`}},
		"inner list is none":      {`[{"function_declarations":{"name":"x"}},{"functionDeclarations":[1]}]`, "", "", []string{`item 1 was ignored: function_declarations is not an array`, `item 2, functionDeclarations 1 was ignored`}},
		"deep":                    {`[{"name":"x","parameters":` + strings.Repeat(`{"items":`, 200) + "{}" + strings.Repeat("}", 200) + `}]`, "", "", []string{`nested deeper`}},
		"large":                   {`[{"name":"x","parameters":{"description":"` + strings.Repeat("x", 1<<20) + `"}}]`, "", "", []string{`larger than 1 MiB`}},
	} {
		t.Run(name, func(t *testing.T) {
			list, warnings, err := discovery.Read([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, d := range list {
				names = append(names, d.Name)
			}
			if got := strings.Join(names, " "); got != c.names {
				t.Errorf("found %q, want %q", got, c.names)
			}
			if c.schema != "" {
				if got, _ := json.Marshal(list[0].Schema); string(got) != c.schema {
					t.Errorf("schema %s\nwant   %s", got, c.schema)
				}
			}
			if len(warnings) != len(c.warned) {
				t.Fatalf("warnings %q, want %q", warnings, c.warned)
			}
			for i, w := range warnings {
				if !strings.Contains(w, c.warned[i]) {
					t.Errorf("warning %q, want %q", w, c.warned[i])
				}
			}
		})
	}
}

// TestWarningsAreBounded checks that the number of warnings is limited.
func TestWarningsAreBounded(t *testing.T) {
	_, warnings, err := discovery.Read([]byte("[" + strings.Repeat("{},", 5000) + "{}]"))
	if err != nil || len(warnings) != 21 || warnings[20] != "and 4981 more declarations were ignored" {
		t.Error(len(warnings), warnings[len(warnings)-1], err)
	}
}

// FuzzRead checks that the result is well formed whatever a command prints.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`[]`, `{}`, `[{"name":"x"}]`, `[{"function_declarations":[{"name":"x","parameters":{"type":"OBJECT"}}]}]`,
		`[{"type":"function","function":{"name":"x","description":"d","parameters":{"properties":{"a":{"type":["STRING","NULL"]}}}}}]`,
		`[{"name":"x","input_schema":{"items":[{"type":"ARRAY"},true]}}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, warnings, err := discovery.Read(text)
		if err != nil {
			if list != nil || warnings != nil {
				t.Error("an error, and something else")
			}
			return
		}
		names := map[string]bool{}
		for _, d := range list {
			if !tool.ValidName(d.Name) || names[d.Name] || d.Schema == nil {
				t.Errorf("%+v", d)
			}
			names[d.Name] = true
			if b, err := json.Marshal(d.Schema); err != nil || !json.Valid(b) {
				t.Errorf("%s: %v", b, err)
			}
		}
		for _, w := range warnings {
			if strings.ContainsAny(w, "\n\x1b") {
				t.Errorf("%q", w)
			}
		}
	})
}

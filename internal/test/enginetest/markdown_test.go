package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// pages is a library of Markdown tools, with stand-ins for the tools that those of
// specification 000 use: web_search asks a server, save_results keeps what it
// is given, echo answers its parameters.
type pages struct {
	*library.Library
	dir   string
	saved []any
	asked []string // method and address
}

func pagesOf(t *testing.T, answer string, files map[string]string) *pages {
	t.Helper()
	p := &pages{dir: folder(t, files)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked = append(p.asked, r.Method+" "+r.URL.String())
		io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	p.Library = library.New(library.Config{WorkingDirectory: p.dir, Home: t.TempDir(), Getenv: func(string) string { return "" }})
	text := func(name string) *tool.Parameter { return &tool.Parameter{Name: name, Type: "string"} }
	for _, def := range []gostep.GoTool{
		{Name: "web_search", Parameters: []*tool.Parameter{text("url"), text("method")}, Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			method, _ := in.Params["method"].(string)
			url := strings.Replace(in.Params["url"].(string), "https://api.example.com", server.URL, 1)
			req, err := http.NewRequestWithContext(ctx, method, strings.Replace(url, "http://server", server.URL, 1), nil)
			if err != nil {
				return nil, err
			}
			res, err := server.Client().Do(req)
			if err != nil {
				return nil, err
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			return string(b), err
		}},
		{Name: "save_results", Parameters: []*tool.Parameter{{Name: "data", Type: "array", Required: true}}, Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			p.saved = append(p.saved, in.Params["data"])
			return map[string]any{"saved": true}, nil
		}},
		{Name: "echo", Parameters: []*tool.Parameter{text("text"), {Name: "number", Type: "number"}, {Name: "list", Type: "array"}, {Name: "object", Type: "object"}, {Name: "flag", Type: "boolean"}},
			Run: func(_ context.Context, in *gostep.StepInput) (any, error) { return in.Params, nil }},
		{Name: "say", Parameters: []*tool.Parameter{text("text")}, Run: func(_ context.Context, in *gostep.StepInput) (any, error) { return in.Params["text"], nil }},
		{Name: "fail", Run: func(context.Context, *gostep.StepInput) (any, error) { return nil, errors.New("no luck") }},
		{Name: "needs", Parameters: []*tool.Parameter{{Name: "a", Description: "one (of: two)", Type: "string", Required: true}, {Name: "b", Description: "d", Type: "string", Required: true}, {Name: "n", Type: "number"}},
			Run: func(context.Context, *gostep.StepInput) (any, error) { return nil, nil }},
		{Name: "hang", Run: func(ctx context.Context, _ *gostep.StepInput) (any, error) { <-ctx.Done(); return nil, nil }},
	} {
		if err := p.Add(def.Definition()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// run runs a page, scripts in this process.
func (p *pages) run(t *testing.T, name string, params map[string]any, o ...engine.RunOption) *runresult.Result {
	t.Helper()
	plan, err := engine.Compile(p.Library, name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	scripts := hooks.New(hooks.Config{InProcess: true})
	defer scripts.Close()
	e := engine.New(engine.Config{StateDir: t.TempDir(), JavaScript: scripts})
	res, err := e.Run(t.Context(), plan, params, o...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func specification(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("internal/lang/decode/testdata/spec000/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSpecification000Single runs example A: pre-processing changes the address, the tool
// asks it, post-processing keeps five results.
func TestSpecification000Single(t *testing.T) {
	t.Parallel()
	p := pagesOf(t, `{"results": [1, 2, 3, 4, 5, 6, 7]}`, map[string]string{"beispieltool.md": specification(t, "beispieltool")})
	res := p.run(t, "./beispieltool.md", map[string]any{"url": "http://server", "query": "käse"})
	if res.Status != dag.Succeeded || res.Output != "[1,2,3,4,5]" {
		t.Errorf("%s %q %s", res.Status, res.Output, res.Message)
	}
	// An undeclared value that nobody gives is undefined to the script.
	p.run(t, "./beispieltool.md", map[string]any{"url": "http://server"})
	if diff := cmp.Diff([]string{"GET /search?q=käse", "GET /search?q=undefined"}, p.asked); diff != "" {
		t.Error(diff)
	}
}

// TestSpecification000Chain runs example B: a reference in a longer text, post-processing
// of a step, and the step after it.
func TestSpecification000Chain(t *testing.T) {
	t.Parallel()
	p := pagesOf(t, `[{"score": 0.4}, {"score": 0.9}, {"score": 0.51}]`, map[string]string{"chain_beispiel.md": specification(t, "chain_beispiel")})
	res := p.run(t, "./chain_beispiel.md", map[string]any{"query": "  käse "})
	if res.Status != dag.Succeeded || res.Output != `{"saved":true}` {
		t.Errorf("%s %q %s", res.Status, res.Output, res.Message)
	}
	if b, _ := json.Marshal(p.saved); string(b) != `[[{"score":0.9},{"score":0.51}]]` {
		t.Errorf("saved %s", b)
	}
	if diff := cmp.Diff([]string{"GET /?q=käse"}, p.asked); diff != "" {
		t.Error(diff)
	}
}

// onePage is a page with these parts.
func onePage(kind, front string, blocks ...string) string {
	text := "---\ntool: true\nname: page\ndescription: A page.\ntype: " + kind + "\n" + front + "---\n"
	for _, b := range blocks {
		language := "js"
		if !strings.Contains(b, "@preprocess") && !strings.Contains(b, "@postprocess") {
			language = "yaml"
		}
		text += "\n```" + language + "\n" + b + "\n```\n"
	}
	return text
}

const everyType = "parameters:\n  - {name: text, type: string, description: d, default: t}\n  - {name: number, type: number, description: d, default: 1.5}\n" +
	"  - {name: list, type: array, description: d, default: [1, {a: b}]}\n  - {name: object, type: object, description: d, default: {a: [1]}}\n  - {name: flag, type: boolean, description: d, required: false}\n"

const inputParameter = "parameters:\n  - {name: input, type: string, description: d, default: i}\n  - {name: output, type: string, description: d, default: o}\n  - {name: time, type: string, description: d, default: t}\n"

// TestPageValues: what references hand to tools, and what comes out.
func TestPageValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		page string
		give map[string]any
		want string // the output
	}{
		"types survive": {page: onePage("single", everyType, "tool: echo\nparameters: {text: input.text, number: input.number, list: input.list, object: input.object, flag: input.flag}"),
			want: `{"list":[1,{"a":"b"}],"number":1.5,"object":{"a":[1]},"text":"t"}`}, // flag is absent, not false
		"types survive pre-processing": {page: onePage("single", everyType, "// @preprocess\nreturn input;", "tool: echo\nparameters: {text: input.text, number: '{{input.number}}', list: preprocess.list, object: '{{preprocess.object}}', flag: input.flag}"),
			want: `{"list":[1,{"a":"b"}],"number":1.5,"object":{"a":[1]},"text":"t"}`},
		"a large number": {page: onePage("single", everyType, "tool: echo\nparameters: {number: input.number}"), give: map[string]any{"number": json.Number("9007199254740993")}, want: `{"number":9007199254740993}`},
		"all of the input": {page: onePage("single", everyType, "tool: echo\nparameters: '{{input}}'"), give: map[string]any{"flag": true, "text": "x"},
			want: `{"flag":true,"list":[1,{"a":"b"}],"number":1.5,"object":{"a":[1]},"text":"x"}`},
		"nested": {page: onePage("single", everyType, "tool: echo\nparameters:\n  list: [{n: input.number, s: 'a {{text}} {{input.list}}'}, ['{{object.a[0]}}', 'input.list[1].a']]"),
			want: `{"list":[{"n":1.5,"s":"a t [1,{\"a\":\"b\"}]"},[1,"b"]]}`},
		"literal":                      {page: onePage("single", everyType, "tool: echo\nparameters:\n  list: [!literal input.text, '\\input.text', '\\{{text}}', input.text is bad]"), want: `{"list":["input.text","input.text","{{text}}","input.text is bad"]}`},
		"a caller's braces":            {page: onePage("single", everyType, "tool: say\nparameters: {text: 'a {{text}}'}"), give: map[string]any{"text": "{{number}} input.text {OS}"}, want: "a {{number}} input.text {OS}"},
		"a changed parameter":          {page: onePage("single", everyType, "// @preprocess\ninput.text = 'changed'; return input;", "tool: say\nparameters: {text: '{{input.text}} {{text}} {{preprocess.text}}'}"), want: "changed changed changed"},
		"a parameter that is gone":     {page: onePage("single", everyType, "// @preprocess\nreturn {a: input.flag === undefined};", "tool: echo\nparameters: {flag: '{{a}}', text: '[{{flag}}]'}"), want: `{"flag":true,"text":"[]"}`},
		"new properties":               {page: onePage("single", everyType, "// @preprocess\ninput.list2 = [...input.list, {deep: [1]}]; return input;", "tool: echo\nparameters: {list: '{{list2}}', text: 'n={{list2[2].deep[0]}}'}"), want: `{"list":[1,{"a":"b"},{"deep":[1]}],"text":"n=1"}`},
		"new properties in chains":     {page: onePage("chain", everyType, "// @preprocess\nreturn {who: input.text + '!', say: 'no'};", "steps:\n  - tool: say\n    parameters: {text: '{{who}}'}\n  - tool: say\n    parameters: {text: '{{who}} {{say}}'}\n    pre_processing: \"return {text: input.text + '?'};\""), want: "t! t!?"}, // a step's name wins
		"of the caller":                {page: onePage("single", everyType, "// @preprocess\nreturn input;", "tool: say\nparameters: {text: '{{extra}}'}"), give: map[string]any{"extra": "given"}, want: "given"},
		"a parameter input":            {page: onePage("single", inputParameter, "tool: say\nparameters: {text: '{{input}} {{input.input}} {{output}} {{time}}'}", "// @postprocess\nreturn output + ' ' + input.input;"), want: "i i o t i"},
		"a default is text":            {page: onePage("single", "parameters:\n  - {name: text, type: string, description: d, default: '{{date}}'}\n", "tool: say\nparameters: {text: '{{text}}'}"), want: "{{date}}"},
		"a parameter input, processed": {page: onePage("single", inputParameter, "// @preprocess\ninput.input += date.length; return input;", "tool: say\nparameters: {text: '{{input}} {{preprocess.input}} {{output}} {{time}}'}", "// @postprocess\nreturn output + ' ' + input.input + time.length;"), want: "i10 i10 o t i108"},
		"a parameter input in a step":  {page: onePage("chain", inputParameter, "steps:\n  - tool: say\n    parameters: {text: '{{input}}'}\n    pre_processing: \"return {text: input.text + '!'};\"\n    post_processing: \"return output + input.output;\""), want: "i!o"},
		"text is parsed":               {page: onePage("single", everyType, "tool: say\nparameters: {text: ' [1, {\"a\": 2}] '}", "// @postprocess\nreturn [output[1].a, outputText];"), want: `[2," [1, {\"a\": 2}] "]`},
		"text that is no value":        {page: onePage("single", everyType, "tool: say\nparameters: {text: '{no json'}", "// @postprocess\nreturn [output, typeof output];"), want: `["{no json","string"]`},
		"a number stays text":          {page: onePage("single", everyType, "tool: say\nparameters: {text: '5'}", "// @postprocess\nreturn typeof output;"), want: "string"},
		"a structured value":           {page: onePage("single", everyType, "tool: echo\nparameters: {number: 5}", "// @postprocess\nreturn output.number + 1;"), want: "6"},
		"a primitive":                  {page: onePage("single", everyType, "tool: say\nparameters: {text: x}", "// @postprocess\nreturn false;"), want: "false"},
		"post sees the input":          {page: onePage("single", everyType, "// @preprocess\nreturn {a: input.text + '!'};", "tool: say\nparameters: {text: x}", "// @postprocess\nreturn input.a + output;"), want: "t!x"},
		"without a tool":               {page: onePage("single", everyType, "// @preprocess\nreturn {a: 1};", "// @postprocess\nreturn output.a + 1;"), want: "2"},
		"post alone":                   {page: onePage("single", everyType, "// @postprocess\nreturn output.text;"), want: "t"},
		"undeclared":                   {page: onePage("single", everyType, "tool: say\nparameters: {text: input.more}"), give: map[string]any{"more": "given"}, want: "given"},
		"constants":                    {page: onePage("single", everyType, "tool: say\nparameters: {text: '{{date}} {{time}} {{random_id}}'}", "// @postprocess\nreturn output === date + ' ' + time + ' ' + random_id && /^[0-9a-f]{16}$/.test(random_id) && /^\\d{4}-\\d\\d-\\d\\d$/.test(date);"), want: "true"},
		"not in scripts":               {page: onePage("single", everyType, "// @postprocess\nreturn '{{date}}' + output.text;"), want: "{{date}}t"},
		"console":                      {page: onePage("single", everyType, "// @preprocess\nconsole.log('seen'); input.text += '!'; return input;", "tool: say\nparameters: {text: '{{text}}'}"), want: "t!"},
		"URL, Buffer and timers":       {page: onePage("single", everyType, "// @postprocess\nawait new Promise(r => setTimeout(r, 1)); return new URL('/ü', 'https://a.b').href + Buffer.from('hi').toString('hex') + new TextEncoder().encode('ü').length;"), want: "https://a.b/%C3%BC68692"},
		"encoding":                     {page: onePage("single", everyType, "// @postprocess\nreturn encodeURIComponent('größe ') + decodeURI('%C3%BC');"), want: "gr%C3%B6%C3%9Fe%20ü"},
		"chain":                        {page: onePage("chain", everyType, "// @preprocess\nreturn {q: input.text};", "steps:\n  - name: say\n    parameters: {text: '[{\"path\": \"{{preprocess.q}}\"}]'}\n  - tool: say\n    id: second\n    parameters: {text: 'prev_step.output[0].path'}\n  - tool: echo\n    parameters: {text: '{{say[0].path}}{{second.output}}', list: '{{say.output}}'}", "// @postprocess\nreturn output.text + output.list.length;"), want: "tt1"},
		"chain with scripts":           {page: onePage("chain", everyType, "steps:\n  - tool: echo\n    parameters: {text: input.text}\n    pre_processing: \"return {text: input.text + '+'};\"\n    post-processing: \"return {deep: {text: output.text + '*'}};\"\n  - tool: say\n    parameters: {text: prev_step.output.deep.text}"), want: "t+*"},
		"pre-processing of steps":      {page: onePage("chain", everyType, "steps:\n  - tool: say\n    parameters: {text: a}\n  - tool: say\n    parameters: {text: prev_step.output, more: [input.number]}\n    pre_processing: \"return {text: input.text + input.more[0] + date.length};\""), want: "a1.510"},
		"a condition":                  {page: onePage("chain", everyType, "steps:\n  - tool: say\n    parameters: {text: a}\n  - id: other\n    tool: say\n    run-condition: \"{flag} == true\"\n    parameters: {text: b}"), want: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pagesOf(t, "", map[string]string{"page.md": test.page})
			if res := p.run(t, "./page.md", test.give); res.Status != dag.Succeeded || res.Output != test.want {
				t.Errorf("%s %q %s\n%v", res.Status, res.Output, res.Message, res.ExecutionLog())
			}
		})
	}
}

// TestPageFailures: what fails fails in its block, with a message and a code.
func TestPageFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		page string
		want []string // block status code message, of the log
	}{
		"thrown":    {onePage("single", "", "// @preprocess\nreturn nothing.x;", "tool: fail"), []string{"preprocess error ReferenceError ReferenceError: nothing is not defined", "tool skipped upstream-failed "}},
		"no object": {onePage("single", "", "// @preprocess\nreturn [1];", "tool: fail"), []string{"preprocess error result the pre-processing script must return an object, but returned an array", "tool skipped upstream-failed "}},
		"undefined": {onePage("single", "", "// @preprocess\nreturn {};", "tool: say\nparameters: {text: 'x {{input.text}}'}"), []string{"preprocess ok  ", "tool error input cannot render parameters.text: input.text: the value does not have this field"}},
		"out of reach": {onePage("chain", "", "steps:\n  - tool: say\n    parameters: {text: '[1]'}\n  - id: next\n    tool: say\n    parameters: {text: 'prev_step.output[1]'}\n  - tool: fail", "// @postprocess\nreturn 1;"),
			[]string{"tool ok  ", "tool error input cannot render parameters.text: prev_step.output[1]: the value does not have this field", "tool skipped upstream-failed ", "postprocess skipped upstream-failed "}},
		"the tool": {onePage("single", "", "tool: fail", "// @postprocess\nreturn 1;"), []string{"tool error exit no luck", "postprocess skipped upstream-failed "}},
		"refused":  {onePage("single", "", "// @preprocess\nreturn {a: {}};", "tool: echo\nparameters: {number: input.a}"), []string{"preprocess ok  ", "tool error input Parameter 'number': expected a number, got an object (pass it as number=...)"}},
		"several parameters": {onePage("single", "", "// @preprocess\nreturn {n: 'x'};", "tool: needs\nparameters: '{{input}}'"),
			[]string{"preprocess ok  ", "tool error input Parameter 'a' is required\nParameter 'b' is required\nParameter 'n': \"x\" is not a number (pass it as n=...)"}},
		"in a step": {onePage("chain", "", "steps:\n  - tool: say\n    parameters: {text: x}\n    post_processing: throw new RangeError('far');\n  - tool: fail"),
			[]string{"tool ok  ", "postprocess error RangeError RangeError: far", "tool skipped upstream-failed "}},
		"tolerated": {onePage("chain", "", "steps:\n  - tool: fail\n    continue-on-error: true\n  - tool: say\n    parameters: {text: x}"), []string{"tool error exit no luck", "tool ok  "}},
		"timed out": {onePage("single", "", "tool: hang\ntimeout: 10ms"), []string{"tool error timeout it exceeded its timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := pagesOf(t, "", map[string]string{"page.md": test.page})
			res := p.run(t, "./page.md", nil)
			var got []string
			for _, e := range res.ExecutionLog() {
				got = append(got, fmt.Sprintf("%s %s %s %s", e.Block, e.Status, e.Code, e.Message))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", res.Message, diff)
			}
		})
	}
}

// TestPageProblems: what is wrong with references is reported with its place before anything
// runs, all of it at once.
func TestPageProblems(t *testing.T) {
	t.Parallel()
	text := onePage("chain", "parameters:\n  - {name: url, type: string, description: d}\n", "steps:\n  - name: say\n    parameters:\n      text: prev_step.output\n  - name: say\n    parameters:\n      text: '{{url.x}} {{sya.a}} {{preprocess.b}}'\n      nothing: !literal input.x\n  - tool: say\n    parameters: {text: [output.x, input.ulr]}")
	want := []string{
		"14:13 error[expr-unknown] there is no previous step; write input.NAME for a parameter of the tool",
		`17:16 error[expr-field] parameter "url" is a string and has no parts; write {{url}}; only arrays and objects have parts`,
		`17:26 error[expr-unknown] unknown name "sya"; did you mean "say"?`,
		"17:36 error[expr-unknown] the page has no pre-processing; write input.NAME for a parameter of the tool",
		`18:7 error[unknown-parameter] tool say has no parameter "nothing"; known parameters: text`,
		`20:25 error[expr-unknown] output is only available in post-processing; write prev_step.output; if it is meant as text, add !literal before it`,
		`20:35 warning[undeclared-input] the tool has no parameter "ulr"; did you mean "url"?`,
	}
	if diff := cmp.Diff(want, problemsOf(t, text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPagePropertyProblems: after pre-processing a name can be any property; what is likely a mistake is reported.
func TestPagePropertyProblems(t *testing.T) {
	t.Parallel()
	text := onePage("chain", "parameters:\n  - {name: url, type: string, description: d}\n", "// @preprocess\nreturn {url: input.url, made: 1};",
		"steps:\n  - name: say\n    parameters:\n      text: '{{made}} {{sya.a}}'\n  - tool: say\n    parameters:\n      text: '{{say}} {{urll}} {{elsewhere[0]}}'\n  - tool: say\n    parameters: {text: '{{syy.a}}'}\n    post_processing: return output;")
	want := []string{
		`19:25 error[expr-unknown] unknown name "sya"; did you mean "say"?`,
		`22:22 warning[undeclared-input] the tool has no parameter "urll"; did you mean "url"?`,
		`22:31 warning[undeclared-input] the tool has no parameter "elsewhere"; declare it, or set it in pre-processing; otherwise the caller has to pass it`,
		`24:27 error[expr-unknown] unknown name "syy"; did you mean "say"?`,
	}
	if diff := cmp.Diff(want, problemsOf(t, text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPageScriptPlaceholders: placeholders in a script are only text, which is reported where it looks like a mistake.
func TestPageScriptPlaceholders(t *testing.T) {
	t.Parallel()
	text := onePage("single", "parameters:\n  - {name: url, type: string, description: d}\n",
		"// @preprocess\n// not {{date}} here\nreturn {a: '{{date}}', b: `http://a.b/{{url}} {{other}}`, c: {d: {date}}};", "tool: say\nparameters: {text: '{{a}}'}")
	want := []string{
		"13:13 warning[js-placeholder] {{date}} is only text in JavaScript: flowrun does not replace placeholders in scripts; replace '{{date}}', with its quotes, by date",
		"13:39 warning[js-placeholder] {{url}} is only text in JavaScript: flowrun does not replace placeholders in scripts; write input.url outside quotes, or ${input.url} between backticks",
	}
	if diff := cmp.Diff(want, problemsOf(t, text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// problemsOf is what is wrong with a page.
func problemsOf(t *testing.T, page string) (list []string) {
	t.Helper()
	p := pagesOf(t, "", map[string]string{"page.md": page})
	plan, err := engine.Compile(p.Library, "./page.md")
	var ds tool.Diagnostics
	if err == nil {
		ds = plan.Warnings
	} else if !errors.As(err, &ds) {
		t.Fatal(err)
	}
	for _, d := range ds {
		list = append(list, fmt.Sprintf("%d:%d %s[%s] %s; %s", d.Pos.Line, d.Pos.Col, d.Severity, d.Code, d.Message, d.Hint))
	}
	return list
}

// TestPageOrder: the steps of a chain run in their order, so none reads a later one or
// itself. A reference that is wrong is reported once.
func TestPageOrder(t *testing.T) {
	t.Parallel()
	page := onePage("chain", "", "steps:\n  - id: a\n    tool: echo\n    parameters: {text: '{{b}}', number: prev_step.output}\n"+
		"  - id: b\n    tool: say\n    parameters: {text: '{{a.text}} {{b.output}}'}\n    post_processing: return output;")
	const hint = "; refer to an earlier step, or move that step up: the steps of a chain run in order"
	want := []string{
		"12:25 error[cycle] step \"b\" runs later than this step" + hint,
		"12:41 error[expr-unknown] there is no previous step; write input.NAME for a parameter of the tool",
		"15:36 error[cycle] step \"b\" runs later than this step" + hint,
	}
	if diff := cmp.Diff(want, problemsOf(t, page)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPageSecrets: what a page's environment.secrets names is in no output.
func TestPageSecrets(t *testing.T) {
	t.Parallel()
	p := pagesOf(t, "", map[string]string{"page.md": onePage("single", "parameters:\n  - {name: key, type: string, description: d}\nenvironment: {secrets: [key]}\n",
		"// @preprocess\nreturn {text: 'with ' + input.key};", "tool: say\nparameters: {text: input.text}", "// @postprocess\nthrow new Error('bad ' + input.text);")})
	res := p.run(t, "./page.md", map[string]any{"key": "s3cr3t-value"})
	b, err := json.Marshal([]any{res, res.ExecutionLog()})
	if err != nil || strings.Contains(string(b), "s3cr3t") || !strings.Contains(string(b), "bad with ***") {
		t.Errorf("%s %v", b, err)
	}
}

// TestPagePreview: what a page hands on and is not known before the run is not a problem of
// a dry run, whatever type it has to have.
func TestPagePreview(t *testing.T) {
	t.Parallel()
	p := pagesOf(t, "", map[string]string{
		"need.yaml": "name: need\ndescription: d\nparameters:\n  N: {description: n, type: number, required: true}\n  M: {description: m, type: number}\nrun: echo {N}\n",
		"page.md": onePage("chain", "", "steps:\n  - id: a\n    tool: say\n    parameters: {text: '5'}\n  - id: b\n    tool: ./need.yaml\n    parameters: {N: prev_step.output}\n"+
			"  - id: c\n    tool: ./need.yaml\n    pre_processing: 'return {N: 1};'\n  - id: d\n    tool: ./need.yaml\n    parameters: {M: prev_step.output, N: input.no}"),
	})
	plan, err := engine.Compile(p.Library, "./page.md")
	if err != nil {
		t.Fatal(err)
	}
	preview, err := plan.Preview(engine.RunEnv{}, map[string]any{"no": "no number"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range preview.Steps {
		if s.Problem != "" {
			got = append(got, s.ID+": "+s.Problem)
		}
	}
	if diff := cmp.Diff([]string{`d: parameter N: "no number" is not a number (description: n)`}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

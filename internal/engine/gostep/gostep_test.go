package gostep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestReadContent holds what a model and a person read, by what a tool of any kind printed.
func TestReadContent(t *testing.T) {
	for _, c := range []struct{ printed, want string }{
		{`plain`, "null"},
		{``, "null"},
		{`{"a":1}`, "null"},
		{`{"llmContent":"m"}`, `{"llmContent":"m","returnDisplay":"m"}`},
		{` {"llmContent":"m","returnDisplay":"**p**","more":1} ` + "\n", `{"llmContent":"m","returnDisplay":"**p**"}`},
		{`{"llmContent":["a",{"text":"b"},{"inlineData":{"mimeType":"image/png","data":"AAEC"}}]}`,
			`{"llmContent":["a","b",{"inlineData":{"mimeType":"image/png","data":"AAEC"}}],"returnDisplay":"ab[image/png, 3 bytes]\n"}`},
		{`{"llmContent":{"inlineData":{"mimeType":"audio/wav","data":""}},"returnDisplay":"sound"}`,
			`{"llmContent":[{"inlineData":{"mimeType":"audio/wav","data":""}}],"returnDisplay":"sound"}`},
		{`{"llmContent":[{"fileData":{"fileUri":"x"}},7],"returnDisplay":null}`, `{"llmContent":["{\"fileData\":{\"fileUri\":\"x\"}}","7"],"returnDisplay":"{\"fileData\":{\"fileUri\":\"x\"}}7"}`},
		{`{"llmContent":[],"returnDisplay":{"any":["thing",12345678901234567890123]}}`, `{"llmContent":[],"returnDisplay":{"any":["thing",12345678901234567890123]}}`},
		{`{"llmContent":null}`, `{"llmContent":[],"returnDisplay":""}`},
		{`{"llmContent":"m","returnDisplay":{"fileName":"f","fileDiff":"-a\n","originalContent":null,"newContent":""}}`,
			`{"llmContent":"m","returnDisplay":{"fileName":"f","fileDiff":"-a\n","originalContent":null,"newContent":""}}`},
		{`{"llmContent":"cut`, "null"},
		{`{"returnDisplay":"llmContent"}`, "null"},
	} {
		got := []byte("null")
		if content := ReadContent(c.printed); content != nil {
			var err error
			if got, err = json.Marshal(content); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.printed, diff)
		}
	}
}

// TestMaskedContent checks that secrets are masked in all that a step returns, except in data that is not text.
func TestMaskedContent(t *testing.T) {
	var m mask.Mask
	if err := m.Add("hunter22"); err != nil {
		t.Fatal(err)
	}
	old := "old hunter22"
	for _, c := range []struct {
		display any
		want    string
	}{
		{"is hunter22", `"is ***"`},
		{nil, `"it is ***[text/plain, 3 bytes]\n[image/png, 8 bytes]\n"`},
		{map[string]any{"deep": []string{"hunter22"}}, `{"deep":["***"]}`},
		{&FileDiff{FileName: "hunter22", FileDiff: "+hunter22", Original: &old, New: "hunter22"}, `{"fileName":"***","fileDiff":"+***","originalContent":"old ***","newContent":"***"}`},
		{func() {}, `"it is ***[text/plain, 3 bytes]\n[image/png, 8 bytes]\n"`},
	} {
		content := &Content{Display: c.display, Parts: []Part{{Text: "it is hunter22"}, {MIME: "text/plain", Data: []byte("hunter22")}, {MIME: "image/png", Data: []byte("hunter22")}}}
		got, err := json.Marshal(content.masked(&m))
		want := `{"llmContent":["it is ***",{"inlineData":{"mimeType":"text/plain","data":"Kioq"}},{"inlineData":{"mimeType":"image/png","data":"aHVudGVyMjI="}}],"returnDisplay":` + c.want + "}"
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// stepOf runs a tool written in Go as a step.
func stepOf(t *testing.T, g GoTool) (res *dag.Result) {
	t.Helper()
	session, err := steps.Open(steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	p := &plan.Plan{Definition: g.Definition()}
	a := (&call.Params{Plan: p, RunEnv: new(call.RunEnv).Filled(), Values: nil}).Frame()
	if err := a.Begin(t.Context(), session, "run", ""); err != nil {
		t.Fatal(err)
	}
	graph, err := dag.New([]dag.Node{{ID: "it", Runner: Runner{Tool: &g}}}, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	state, err := dag.Run(t.Context(), graph, a, dag.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state.All(func(_ dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) { res = r })
	return res
}

// TestRunner holds the result of a step, by what its StepFunc returns.
func TestRunner(t *testing.T) {
	for _, c := range []struct {
		returns any
		err     error
		want    string
	}{
		{"text", nil, "succeeded 0  text"},
		{nil, nil, "succeeded 0  "},
		{map[string]any{"n": 12345678901234567}, nil, `succeeded 0  {"n":12345678901234567}`},
		{TextContent("for the model", "for a person"), nil, "succeeded 0  for the model"},
		{func() {}, nil, "failed 1 exit: cannot write the result as JSON: json: unsupported type: func() "},
		{"lost", errors.New("no luck"), "failed 1 exit: no luck "},
		{nil, &ExitError{Code: 7}, "failed 7 exit: exit code 7 "},
		{nil, fmt.Errorf("around: %w", &ExitError{Code: 8, Err: errors.New("inside")}), "failed 8 exit: around: inside "},
	} {
		r := stepOf(t, GoTool{Name: "it", Run: func(context.Context, *StepInput) (any, error) { return c.returns, c.err }})
		why := ""
		if r.Message != "" {
			why = r.Reason + ": " + r.Message
		}
		if got := fmt.Sprintf("%s %d %s %s", r.Status, r.ExitCode, why, call.Raw(r.Stdout)); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.returns, c.err, got, c.want)
		}
	}
	r := stepOf(t, GoTool{Name: "it", Run: func(context.Context, *StepInput) (any, error) { panic("oh") }})
	if r.Reason != dag.ReasonPanic || r.Message != "panic: oh" {
		t.Errorf("%+v", r)
	}
}

// TestDescribe holds the words for a call, and that a panic in them is not one of flowrun.
func TestDescribe(t *testing.T) {
	const text = "Does it. Call it when nothing else helps."
	says := func(map[string]any) string { return "Says a\nto all" }
	for _, c := range []struct {
		tool    GoTool
		guessed bool
		want    string
	}{
		{GoTool{Description: text, Describe: says}, false, "Says a to all"},
		{GoTool{Description: text, Describe: says}, true, "Does it"},
		{GoTool{Description: text}, false, "Does it"},
		{GoTool{Description: text, Describe: func(map[string]any) string { panic("no words") }}, false, "Does it"},
		{GoTool{}, false, "(Go function)"},
		{GoTool{Describe: func(map[string]any) string { return strings.Repeat("x", 300) }}, false, strings.Repeat("x", MaxDescribed-1) + "…"},
	} {
		a := (&call.Params{Plan: &plan.Plan{Definition: &tool.Definition{}}, RunEnv: new(call.RunEnv).Filled()}).Frame()
		a.Guessed = c.guessed
		if got := DescribeCall(&c.tool, a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	panics := &GoTool{Confirm: func(context.Context, *StepInput) (*Confirmation, error) { panic("no screen") }}
	if c, err := SafeConfirm(t.Context(), panics, nil); c != nil || err == nil || !strings.Contains(err.Error(), "no screen") {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestParametersOf holds the parameters of structs, or why they are none.
func TestParametersOf(t *testing.T) {
	type good struct {
		Name string `json:"name" description:"whom" enum:"a,b"`
		N    *int
		List []string       `json:"list,omitempty"`
		Map  map[string]int `json:"map"`
		Yes  bool           `default:"true"`
		Half float64        `default:"0.5"`
		Skip string         `json:"-"`
	}
	params, err := ParametersOf[good]()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range params {
		text := fmt.Sprintf("%s %s required:%t", p.Name, p.Type, p.Required)
		if p.Default != nil {
			text += fmt.Sprint(" default:", p.Default.Data())
		}
		for _, v := range p.Validation.Enum {
			text += fmt.Sprint(" ", v.Data())
		}
		got = append(got, text+p.Description)
	}
	want := []string{"name string required:true a bwhom", "N number required:false", "list array required:false", "map object required:true",
		"Yes boolean required:false default:true", "Half number required:false default:0.5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, number := ParametersOf[int]()
	_, embedded := ParametersOf[struct{ GoTool }]()
	_, channel := ParametersOf[struct{ C chan int }]()
	_, wrong := ParametersOf[struct {
		N int `default:"x"`
	}]()
	_, list := ParametersOf[struct {
		L []int `default:"1"`
	}]()
	for _, c := range []struct {
		err  error
		want string
	}{
		{number, "must be a struct, not int"}, {embedded, "the embedded field GoTool cannot be a parameter"}, {channel, "its type chan int is not supported"}, {wrong, "the default of field N"},
		{list, "cannot be a value of type array"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}

// TestTyped checks that values keep their digits on the way into a function over Go types and out of ParamsOf.
func TestTyped(t *testing.T) {
	type in struct{ N int64 }
	double, err := TypedTool("double", "d", func(_ context.Context, v in) (int64, error) {
		if v.N == 0 {
			return 0, errors.New("zero")
		}
		return v.N * 2, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{`{"N":4503599627370497}`: "9007199254740994", `{"N":0}`: "zero", `{"N":"x"}`: "cannot read the parameters as a gostep.in"} {
		var params map[string]any
		d := json.NewDecoder(strings.NewReader(given))
		d.UseNumber()
		if err := d.Decode(&params); err != nil {
			t.Fatal(err)
		}
		v, err := double.Run(t.Context(), &StepInput{Params: params})
		if got := fmt.Sprint(v, err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
	if m, err := ParamsOf(in{1 << 60}); err != nil || fmt.Sprint(m["N"]) != "1152921504606846976" {
		t.Errorf("%v, %v", m, err)
	}
	for _, v := range []any{1, nil, func() {}} {
		if _, err := ParamsOf(v); err == nil {
			t.Errorf("%T became parameters", v)
		}
	}
}

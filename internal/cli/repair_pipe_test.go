package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestRepairAnswersOneByOne talks with flowrun repair as another program would: ten thousand
// times it writes a line and waits for the answer.
func TestRepairAnswersOneByOne(t *testing.T) {
	t.Parallel()
	inputs := []struct {
		text, unit, code string
	}{
		{`{\"p\": %d}`, "bar", ""}, {`{p=%d,}`, "bar", ""}, {`{'p': %d, 'unit': 'psi'}`, "psi", ""},
		{"```json\\n{\\\"p\\\": %d}\\n```", "bar", ""}, {`f(p=%d)`, "bar", ""}, {`{\"p\": %d`, "", "truncated"},
	}
	cmd := exec.Command("flowrun", "repair")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	answers := bufio.NewReader(out)
	for i := range 10_000 {
		c := inputs[i%len(inputs)]
		fmt.Fprintf(in, `{"id":%d,"tool_parameters":{"p":{"type":"number","required":true},"unit":{"default":"bar"}},"input":"%s"}`+"\n", i, fmt.Sprintf(c.text, i))
		line, err := answers.ReadBytes('\n')
		var got struct {
			ID    int
			OK    bool
			Value struct {
				P    int
				Unit string
			}
			Error struct{ Code string }
		}
		if err == nil {
			err = json.Unmarshal(line, &got)
		}
		if err != nil || got.ID != i || got.OK != (c.code == "") || got.Error.Code != c.code || got.Value.Unit != c.unit || got.OK && got.Value.P != i {
			t.Fatalf("line %d: %v: %s", i, err, line)
		}
	}
	in.Close()
	if rest, _ := io.ReadAll(answers); len(rest) > 0 {
		t.Errorf("it continues: %s", rest)
	}
}

// TestRepairKeepsWhatIsWritten: ids of every JSON type, digits, characters and line ends are
// returned unchanged.
func TestRepairKeepsWhatIsWritten(t *testing.T) {
	t.Parallel()
	const parameters = `"tool_parameters":{"p":{"type":"number"},"n":{"type":"integer"},"s":{},"x":{"type":"any"}}`
	for _, c := range []struct{ id, input, value string }{
		{`null`, `{"n":9007199254740993}`, `{"n":9007199254740993}`},
		{`true`, `{"p":1e300,"x":1e400}`, `{"p":1e300,"x":1e400}`},
		{`[1,{"a":2.50}]`, `{"p":0.1000}`, `{"p":0.1000}`},
		{`"q\u0000\ud83d\ude00"`, `{"p":-0,"n":-0}`, `{"n":-0,"p":-0}`},
		{`1.0e5`, `"{p=0.1000,n=9007199254740993}"`, `{"n":9007199254740993,"p":0.1000}`},
		{`-0`, `"{p=1e300, x: [1e400, -0, 12345678901234567890.50]}"`, `{"p":1e300,"x":[1e400,-0,12345678901234567890.50]}`},
		{`"<&>"`, `{"s":"a\u0000\ud83d\ude00é\\\" <b>"}`, `{"s":"a\u0000😀é\\\" <b>"}`},
		{`{}`, `"{s='ünï 😀 \\u00e9'}"`, `{"s":"ünï 😀 é"}`},
		{`[]`, `""`, `{}`},
		{`false`, `null`, `{}`},
	} {
		for ends, frame := range map[string]string{"\\n": "%s\n", "\\r\\n": "\r\n%s\r\n\r\n", "none": "\n  \n%s", "a byte order mark": "\ufeff%s\n"} {
			out, told, code := flowrunIn(t, fmt.Sprintf(frame, `{"id":`+c.id+`,`+parameters+`,"input":`+c.input+`}`), "repair")
			if want := `{"schema":"flowrun/repaired.v1","id":` + c.id + `,"ok":true,"value":` + c.value + `,"repaired":`; code != 0 || told != "" || !strings.HasPrefix(out, want) || strings.Count(out, "\n") != 1 {
				t.Errorf("the line ends with %s: %s, want %s: %s", ends, out, want, told)
			}
		}
	}
}

// TestRepairTakesAMebibyte: a text of 1 MiB is accepted, and one more byte is rejected.
func TestRepairTakesAMebibyte(t *testing.T) {
	t.Parallel()
	for _, frame := range [][2]string{{`{"s": "`, `"}`}, {`{s='`, `'}`}} {
		for more, code := range []string{"", "too-large"} {
			text := frame[0] + strings.Repeat("x", 1<<20+more-len(frame[0])-len(frame[1])) + frame[1]
			doc, err := json.Marshal(map[string]any{"id": more, "tool_parameters": map[string]any{"s": map[string]any{}}, "input": text})
			if err != nil {
				t.Fatal(err)
			}
			out, _, exit := flowrunIn(t, string(doc), "repair")
			var got struct {
				ID    int
				Value struct{ S string }
				Error struct{ Code string }
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil || exit != 0 || got.ID != more || got.Error.Code != code || code == "" && len(got.Value.S) != 1<<20-len(frame[0])-len(frame[1]) {
				t.Errorf("%d bytes: %v: %.300s", len(text), err, out)
			}
		}
	}
}

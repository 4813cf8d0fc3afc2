package models

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/model/argparse"
)

func repairCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "repair [FILE|-]",
		Short: "Repair the arguments of a model as flowrun call does, without calling a tool",
		Long: `Read and repair arguments that language models wrote, as flowrun call does, without calling
a tool. This is for scripts, tests and other programs. Standard input, or FILE, contains one
JSON document per line:

  {"id": 1, "tool_parameters": {"p": {"type": "number", "required": true}}, "input": "{p=10}"}

Each parameter has a type (string, number, integer, boolean, array, object, any), and can
have required, default, validation (minLength, maxLength, pattern, minimum, maximum,
enum), properties and items. input is the text of the model, or a JSON object.

The command writes one line for each input line, in the same order and with the same id:

  {"schema":"flowrun/repaired.v1","id":1,"ok":true,"value":{"p":10},"repaired":true,
   "repairs":[...],"coercions":[],"defaults_applied":[],"error":null}

If the text is ambiguous or violates a rule, ok is false, value is null, and error contains
a code and the reason. The exit code is 0 if every line got an answer.`,
		Example: `  flowrun repair calls.jsonl > repaired.jsonl
  echo '{"tool_parameters":{"p":{"type":"number"}},"input":"{p=10,}"}' | flowrun repair | jq .value`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return ui.Usagef(c, "give at most one file; without a file, the command reads standard input")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "-" {
				return repairLines(env, env.Stdin)
			}
			f, err := os.Open(args[0])
			if err != nil {
				return ui.MarkMissingFile(fmt.Errorf("cannot read the calls: %w", err))
			}
			defer f.Close()
			return repairLines(env, f)
		},
	}
}

// maxRepairLine is the maximum length of a line in bytes. The longest text that is accepted has 1
// MiB, and takes six times as much if every character is escaped.
const maxRepairLine = 16 << 20

// repairLines writes one line of output for each line of input.
func repairLines(env *ui.Env, in io.Reader) error {
	m := &repairer{}
	r := bufio.NewReaderSize(in, 64<<10)
	for first := true; ; first = false {
		line, tooLong, err := readLine(r)
		if first { // shells on Windows write a byte order mark first
			line = diagnostic.WithoutMark(line)
		}
		if len(bytes.TrimSpace(line)) > 0 || tooLong {
			text, bad := encodeLine(m.answer(line, tooLong))
			if bad != nil {
				return bad
			}
			if _, bad := env.Stdout.Write(text); bad != nil {
				return bad
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("cannot read the calls: %w", err)
		}
	}
}

// readLine reads a line. For a line that is too long, it reads to the end of the line and returns
// only tooLong.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxRepairLine; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// repairLine is one line of the input of flowrun repair.
type repairLine struct {
	ID         json.RawMessage `json:"id"`
	Parameters json.RawMessage `json:"tool_parameters"`
	Input      json.RawMessage `json:"input"`
}

// repairAnswer is one line of its output.
type repairAnswer struct {
	Schema    string            `json:"schema"`
	ID        json.RawMessage   `json:"id"`
	OK        bool              `json:"ok"`
	Value     map[string]any    `json:"value"`
	Repaired  bool              `json:"repaired"`
	Repairs   []argparse.Repair `json:"repairs"`
	Coercions []argparse.Repair `json:"coercions"`
	Defaults  []string          `json:"defaults_applied"`
	Error     any               `json:"error"`
}

// lineError is the error for a line that is not a valid request.
type lineError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// codeBadLine is the error code for a line that is not a valid request.
const codeBadLine = "bad-line"

// repairer answers lines. It keeps the rules of the last declaration, because most lines of a file
// have the same one.
type repairer struct {
	parameters []byte
	rules      *argumentRules
}

func (m *repairer) answer(line []byte, tooLong bool) repairAnswer {
	a := repairAnswer{Schema: "flowrun/repaired.v1", ID: json.RawMessage("null"), Repairs: []argparse.Repair{}, Coercions: []argparse.Repair{}, Defaults: []string{}}
	fail := func(format string, args ...any) repairAnswer {
		a.Error = lineError{codeBadLine, fmt.Sprintf(format, args...)}
		return a
	}
	var l repairLine
	switch {
	case tooLong:
		return fail("the line is longer than %d MiB", maxRepairLine>>20)
	case !utf8.Valid(line):
		return fail("the line is not UTF-8")
	}
	if err := json.Unmarshal(line, &l); err != nil {
		why := err.Error()
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			why = "it is a JSON " + wrong.Value
		}
		return fail(`the line is not a JSON object like {"id", "tool_parameters", "input"}: %s`, why)
	}
	if l.ID != nil {
		a.ID = l.ID
	}
	switch {
	case l.Parameters == nil:
		return fail("tool_parameters is missing")
	case l.Input == nil:
		return fail("input is missing")
	}
	if err := m.setParameters(l.Parameters); err != nil {
		return fail("tool_parameters: %v", err)
	}
	m.parse(&a, inputText(l.Input))
	return a
}

// setParameters sets the parameters that apply to the line.
func (m *repairer) setParameters(doc []byte) (err error) {
	if m.rules != nil && bytes.Equal(doc, m.parameters) {
		return nil
	}
	m.rules = nil
	if m.rules, err = readRules(doc); err == nil {
		m.parameters = bytes.Clone(doc)
	}
	return err
}

// parse parses the text of the model and fills in the answer.
func (m *repairer) parse(a *repairAnswer, text []byte) {
	res, refused := argparse.Parse(m.rules.schema, "", text)
	if refused != nil {
		refused.ExpectedFormat = m.rules.example()
		a.Error = refused
		return
	}
	given := map[string]any{}
	for name, v := range res.Value {
		given[name] = v
	}
	for _, name := range res.Defaults { // defaults of the author are not validated
		delete(given, name)
	}
	if refused := m.rules.tool.Validate(given); refused != nil {
		refused.ExpectedFormat = json.RawMessage(m.rules.example())
		a.Error = refused
		return
	}
	a.OK, a.Value, a.Repaired = true, res.Value, res.Repaired
	a.Repairs, a.Coercions, a.Defaults = append(a.Repairs, res.Repairs...), append(a.Coercions, res.Coercions...), append(a.Defaults, res.Defaults...)
}

// inputText returns what the model wrote: the content of a JSON string, or any other value
// unchanged.
func inputText(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		return []byte(text)
	}
	return raw
}

// encodeLine returns v as one line of JSON, without the escapes for HTML.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

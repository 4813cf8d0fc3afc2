package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/argparse"
	"github.com/flowrun/flowrun/internal/outcome"
	"github.com/flowrun/flowrun/tool"
)

// Codes of refused arguments beside those of the text, which package repair's page lists:
// see docs/calls.md.
const (
	CodeInvalid = outcome.AnswerInvalid // values that break the tool's rules
	CodeMissing = outcome.AnswerMissing // required parameters are not there
)

// Refusal says why a text is no call of the tool, and what would be one.
// Its JSON form has at most 2 KB. Nothing in it is the value of a secret parameter's default,
// choice or example.
type Refusal struct {
	Code           string          `json:"code"`
	Message        string          `json:"message"`
	Offset         int             `json:"offset"`          // where in the text, in bytes; 0 where it is about values
	ExpectedFormat json.RawMessage `json:"expected_format"` // an example call; null where there is no room for one
	Hint           string          `json:"hint"`            // one way out
	Suggestions    []string        `json:"suggestions"`     // names that were probably meant
}

func (r *Refusal) Error() string { return r.Message }

// refusal is one of the text.
func (t *Tool) refusal(r *argparse.Refusal) *Refusal {
	return (&Refusal{Code: r.Code, Message: r.Message, Offset: r.Offset, ExpectedFormat: example(r.ExpectedFormat), Hint: r.Hint, Suggestions: r.Suggestions}).cut()
}

// invalid is a refusal of values: everything that is wrong with them.
func (t *Tool) invalid(problems []flowrun.ParamProblem) *Refusal {
	r := &Refusal{Code: CodeMissing, ExpectedFormat: t.expected(), Hint: "Correct these and send the complete call again."}
	var lines []string
	for _, p := range problems {
		if p.Code != "missing" {
			r.Code = CodeInvalid
		}
		line := p.Subject() + ": " + p.Message
		if t.tells(p) {
			line += " (" + p.Hint + ")"
		}
		lines = append(lines, line)
		r.suggest(t, p)
	}
	r.Message = strings.Join(lines, "; ")
	return r.cut()
}

// tells says whether a hint is news to a model: it has read the description, sees the
// expected format, and knows nothing of NAME=value on a command line.
func (t *Tool) tells(p flowrun.ParamProblem) bool {
	name := p.Parameter()
	return p.Hint != "" && p.Hint != t.about(name) && p.Code != "missing" && !t.plan.Secret(name) && !strings.Contains(p.Hint, name+"=")
}

// about is the description of a parameter, "" for one that is not declared: the model has
// read it.
func (t *Tool) about(name string) string {
	for _, p := range t.plan.Definition.Parameters {
		if p.Name == name {
			return p.Description
		}
	}
	return ""
}

// suggest adds the names that an unknown one was probably meant to be.
func (r *Refusal) suggest(t *Tool, p flowrun.ParamProblem) {
	if p.Code != "unknown" {
		return
	}
	var known []string
	for _, d := range t.plan.Definition.Parameters {
		known = append(known, d.Name)
	}
	for _, name := range tool.Near(p.Name, known) {
		if !slices.Contains(r.Suggestions, name) {
			r.Suggestions = append(r.Suggestions, name)
		}
	}
}

// expected is an example call of the tool.
func (t *Tool) expected() json.RawMessage { return example(argparse.Example(t.schema)) }

// example is an example call as JSON; what was cut is a text.
func example(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return text
}

// Bounds of a refusal: together they keep its JSON form, in which a character may take six
// bytes, within mostRefusal.
const (
	maxRefusal    = 2048
	maxMessage    = 900
	maxHint       = 300
	maxSuggestion = 64
)

// cut makes a refusal fit, the example going before the reason.
func (r *Refusal) cut() *Refusal {
	r.Message, r.Hint = cutText(r.Message, maxMessage), cutText(r.Hint, maxHint)
	r.Suggestions = r.Suggestions[:min(len(r.Suggestions), 5)]
	r.Suggestions = append([]string{}, r.Suggestions...)
	for i, s := range r.Suggestions {
		r.Suggestions[i] = cutText(s, maxSuggestion)
	}
	for _, shorter := range []func(){
		func() { r.ExpectedFormat = nil },
		func() { r.Suggestions = []string{} },
		func() { r.Hint = cutText(r.Hint, 80) },
		func() { r.Message = cutText(r.Message, 280) },
	} {
		if text, err := json.Marshal(r); err == nil && len(text) <= maxRefusal {
			break
		}
		shorter()
	}
	return r
}

// cutText is at most that many bytes of a text, cut between characters, with a mark.
func cutText(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	s = s[:most-len("…")]
	for len(s) > 0 {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s + "…"
}

// reason is the refusal as a model is told it.
func (r *Refusal) reason() string {
	text := fmt.Sprintf("Error: Invalid parameters provided. Reason: %s", r.Message)
	if r.Hint != "" {
		text = strings.TrimRight(text, ".") + ". " + r.Hint
	}
	if r.ExpectedFormat != nil {
		text += "\nExpected: " + string(r.ExpectedFormat)
	}
	if len(r.Suggestions) > 0 {
		text += "\nDid you mean " + strings.Join(r.Suggestions, ", ") + "?"
	}
	return text
}

package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/model/argparse"
)

// Refusal says why a text is not a valid call of the tool, and what would be one. Its JSON form has at most 2 KB. It
// holds no default, choice or example of a secret parameter.
type Refusal struct {
	Code           string          `json:"code"`
	Message        string          `json:"message"`
	OriginalError  string          `json:"original_error,omitempty"` // why a strict reading fails: what is not JSON, or the message; always in English
	Offset         int             `json:"offset"`                   // position in the text, in bytes; 0 if the problem is in the values
	ExpectedFormat json.RawMessage `json:"expected_format"`          // an example call; null if there is no room for one
	Hint           string          `json:"hint"`                     // one way to correct it
	Suggestions    []string        `json:"suggestions"`              // names that were probably meant
	// DocumentationLink is the address of a page about the tool. Only Options.Refused sets it.
	DocumentationLink string `json:"documentation_link,omitempty"`
}

func (r *Refusal) Error() string { return r.Message }

// withOriginal completes a refusal of a text with the error of a strict reading.
func (r *Refusal) withOriginal(text string) *Refusal {
	if len(text) > maxInput {
		text = "{}"
	}
	var object map[string]json.RawMessage
	var bad *json.SyntaxError
	switch err := json.Unmarshal([]byte(text), &object); {
	case err == nil:
		r.OriginalError = r.Message
	case errors.As(err, &bad):
		r.OriginalError = fmt.Sprintf("invalid JSON at byte %d: %v", bad.Offset, bad)
	default:
		r.OriginalError = "not a JSON object"
	}
	return r.cut()
}

// refusal converts a refusal of the text.
func (t *Tool) refusal(r *argparse.Refusal) *Refusal {
	return (&Refusal{Code: r.Code, Message: r.Message, Offset: r.Offset, ExpectedFormat: t.expected(), Hint: r.Hint, Suggestions: r.Suggestions}).cut()
}

// invalid returns a refusal that lists all problems with the values.
func (t *Tool) invalid(problems []flowrun.ParamProblem) *Refusal {
	r := &Refusal{Code: outcome.AnswerMissing, ExpectedFormat: t.expected(), Hint: "Correct these and send the complete call again."}
	var lines []string
	for _, p := range problems {
		if p.Code != "missing" {
			r.Code = outcome.AnswerInvalid
		}
		line := p.Subject() + ": " + p.Message
		if t.usefulHint(p) {
			line += " (" + p.Hint + ")"
		}
		lines = append(lines, line)
		r.suggest(t, p)
	}
	r.Message = strings.Join(lines, "; ")
	return r.cut()
}

// usefulHint reports whether a hint is useful to a model: the model already has the description and the expected
// format, and does not use NAME=value of a command line.
func (t *Tool) usefulHint(p flowrun.ParamProblem) bool {
	name := p.Parameter()
	return p.Hint != "" && p.Hint != t.description(name) && p.Code != "missing" && !t.plan.Secret(name) && !strings.Contains(p.Hint, name+"=")
}

// description returns the description of a parameter, "" for an undeclared one.
func (t *Tool) description(name string) string {
	for _, p := range t.plan.Definition.Parameters {
		if p.Name == name {
			return p.Description
		}
	}
	return ""
}

// suggest adds the names that an unknown name was probably meant to be.
func (r *Refusal) suggest(t *Tool, p flowrun.ParamProblem) {
	if p.Code != "unknown" {
		return
	}
	var known []string
	for _, d := range t.plan.Definition.Parameters {
		known = append(known, d.Name)
	}
	for _, name := range diagnostic.Near(p.Name, known) {
		if !slices.Contains(r.Suggestions, name) {
			r.Suggestions = append(r.Suggestions, name)
		}
	}
}

// expected returns an example call of the tool, which its schema accepts; nil if none is found.
func (t *Tool) expected() json.RawMessage {
	rules, err := dataschema.Parse(t.Schema())
	if err != nil {
		return example(argparse.Example(t.schema))
	}
	bound := boundRules{rules}
	text := argparse.ExampleOf(t.schema, bound)
	var call any
	if value.DecodeJSON(text, &call) != nil || !bound.Accepts(call) {
		return nil
	}
	return example(text)
}

// boundRules are the rules for arguments as they are checked: with the defaults of those that are not passed.
type boundRules struct{ *dataschema.Schema }

// Accepts implements report.Rules.
func (r boundRules) Accepts(call any) bool { return r.Schema.Accepts(r.Defaults(call)) }

// example returns an example call as JSON; a truncated one becomes a text.
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

// Limits of a refusal: together they keep its JSON form, in which a character can take six bytes, within maxRefusal.
const (
	maxRefusal    = 2048
	maxMessage    = 900
	maxHint       = 300
	maxOriginal   = 200
	maxLink       = 200
	maxSuggestion = 64
)

// cut shortens a refusal to fit; the example is dropped before the reason is shortened.
func (r *Refusal) cut() *Refusal {
	r.Message, r.Hint = cutText(r.Message, maxMessage), cutText(r.Hint, maxHint)
	r.OriginalError, r.DocumentationLink = cutText(r.OriginalError, maxOriginal), cutText(r.DocumentationLink, maxLink)
	r.Suggestions = r.Suggestions[:min(len(r.Suggestions), 5)]
	r.Suggestions = append([]string{}, r.Suggestions...)
	for i, s := range r.Suggestions {
		r.Suggestions[i] = cutText(s, maxSuggestion)
	}
	for _, shorter := range []func(){
		func() { r.OriginalError = "" },
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

// cutText returns at most that many bytes of a text, cut between characters, with an ellipsis.
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

// reason returns the refusal in the words for a model.
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
	if r.DocumentationLink != "" {
		text += "\nDocumentation: " + r.DocumentationLink
	}
	return text
}

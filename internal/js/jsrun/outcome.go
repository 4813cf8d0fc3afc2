package jsrun

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// outcome is the result of module.js for "execute": the value, or what was thrown, or both if the
// tool reports a failure.
type outcome struct {
	Value json.RawMessage
	Error *struct {
		Name, Message, Where string
		Reported, Rejected   bool
		Business             *tool.BusinessError
	}
}

// CodeReported is the code of a failure that a tool reports by returning {success: false}
// without a code of its own.
const CodeReported = "tool_reported_failure"

// unwrapOutcome returns what a tool's execute returned, or an *Error with what it threw.
func unwrapOutcome(answer json.RawMessage, err error) (json.RawMessage, error) {
	var bad *Error
	if errors.As(err, &bad) && bad.Kind == KindResult { // its message names the member of outcome
		bad.Message = strings.Replace(bad.Message, "the result.value", "the result", 1)
	}
	if err != nil {
		return nil, err
	}
	var o outcome
	if err := json.Unmarshal(answer, &o); err != nil {
		return nil, fmt.Errorf("cannot read the result of the tool: %w", err)
	}
	if o.Error == nil {
		return o.Value, nil
	}
	e := &Error{Kind: KindThrown, Name: o.Error.Name, Message: jsworld.Shorten(o.Error.Message), Pos: ParsePosition(o.Error.Where), Business: o.Error.Business, Value: o.Value}
	if o.Error.Rejected {
		e.Kind = KindParameters
	}
	if o.Error.Reported && e.Business == nil {
		e.Business = &tool.BusinessError{Retryable: true}
	}
	if o.Error.Reported {
		e.Business.Code = cmp.Or(e.Business.Code, CodeReported)
	}
	return nil, e
}

// ParsePosition parses file:line:col. It returns the zero Pos for any other text.
func ParsePosition(s string) tool.Pos {
	rest, col, ok := cutLast(s)
	file, line, ok2 := cutLast(rest)
	if !ok || !ok2 {
		return tool.Pos{}
	}
	return tool.Pos{File: file, Line: line, Col: col}
}

func cutLast(s string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	return s[:i], n, err == nil && n > 0
}

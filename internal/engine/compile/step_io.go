package compile

import (
	"cmp"

	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// interactive returns the interactive settings of the step. Its own keys take precedence over those of the tool; response
// is the default response of the tool.
func interactive(c *stepTexts, response *expr.Template) *terminal.Interactive {
	s, tl := c.step, c.definition
	own := s.InteractiveOptions
	switch {
	case s.Interactive == nil && !tl.Interactive:
		if own.Pos.Line > 0 {
			c.Report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: own.Pos, Path: c.key("interactive-options"),
				Message: "interactive-options has no effect without interactive", Hint: "add interactive: true"})
		}
		return nil
	case s.Interactive != nil && !*s.Interactive:
		return nil
	}
	for _, in := range []*tool.Text{s.Input, tl.Input} {
		if in != nil {
			c.Errorf("no-effect", *in, "remove input, or interactive", "an interactive step reads from its terminal and cannot have input")
			break
		}
	}
	i := &terminal.Interactive{Timeout: cmp.Or(own.Timeout, tl.InteractiveOptions.Timeout), Default: response}
	if own.DefaultResponse != nil {
		i.Default = c.text(own.DefaultResponse, "interactive-options.default-response", expr.Plain)
	}
	return i
}

// stream returns where the step's output is streamed to.
func stream(c *stepTexts, isHandler bool) *steps.Stream {
	o := c.step.Output
	warn := func(at tool.Pos, key, hint string) {
		c.Report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: at, Path: c.key("output." + key),
			Message: "output." + key + " has no effect here", Hint: hint})
	}
	if o.Mode != "stream" && o.StreamCallback != "" && o.StreamCallback != "console" {
		warn(o.StreamPos, "stream-callback", "add mode: stream")
	}
	if o.File != nil && (o.Mode != "stream" || o.StreamCallback != "file") {
		warn(o.File.Pos, "file", "add mode: stream and stream-callback: file")
	}
	if o.Mode == "" && isHandler {
		// The output of a handler is never that of the run, so nobody would see it otherwise.
		return &steps.Stream{To: steps.StreamToConsole}
	}
	if o.Mode != "stream" {
		return nil
	}
	st := &steps.Stream{To: steps.StreamTo(cmp.Or(o.StreamCallback, "console"))}
	if st.To == steps.StreamToFile {
		st.File = c.text(o.File, "output.file", expr.Plain)
	}
	return st
}

package httpstep

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/requesturl"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// DescribeRequest shows the request in a dry run, as it would be sent. sc has the values that are known; others are shown
// as references. The caller masks secrets.
func (r *Runner) DescribeRequest(sc expr.Scope) string {
	known := references{sc, map[string]bool{}}
	var b strings.Builder
	b.WriteString(r.Def.MethodOrDefault() + " " + shownURL(r.describeURL(known)))
	switch {
	case r.Bearer != nil:
		b.WriteString("\nAuthorization: Bearer " + steps.Replacement)
	case r.User != nil:
		b.WriteString("\nAuthorization: Basic " + steps.Replacement)
	}
	field := func(format string, list []Field) {
		for _, f := range list {
			fmt.Fprintf(&b, format, f.Name, shownField(f.Name, f.Value.Display(known, nil)))
		}
	}
	field("\n%s: %s", r.Headers)
	field("\nform %s=%s", r.Form)
	switch {
	case r.JSON != nil:
		b.WriteString("\n" + r.describeJSON(known))
	case r.Body != nil:
		b.WriteString("\n" + r.Body.Display(known, nil))
	case r.File != nil:
		b.WriteString("\nthe file " + r.File.Display(known, nil))
	}
	for _, more := range []struct {
		words string
		text  *expr.Template
	}{{"saved as", r.SaveAs}, {"through the proxy", r.Proxy}, {"with the CA certificates", r.CA}, {"with the certificate", r.Cert}, {"with the key", r.Key}} {
		if more.text != nil {
			b.WriteString("\n" + more.words + " " + more.text.Display(known, nil))
		}
	}
	return b.String()
}

func (r *Runner) describeURL(known references) string {
	text, err := r.URL.EncodedText(known, func(before, value string) string {
		if known.unknown[value] {
			return value
		}
		return requesturl.Encode(before, value)
	})
	if err != nil {
		text = r.URL.Display(known, nil)
	}
	for _, f := range r.Query {
		value := f.Value.Display(known, nil)
		if !known.unknown[value] {
			value = url.QueryEscape(value)
		}
		separator := "?"
		if strings.Contains(text, "?") {
			separator = "&"
		}
		text += separator + url.QueryEscape(f.Name) + "=" + value
	}
	return text
}

func (r *Runner) describeJSON(known references) string {
	v, err := r.JSON.Value(known)
	if err != nil {
		return "a JSON body"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "a JSON body"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// references is a scope in which a reference that is not known yet has itself as its value.
type references struct {
	known   expr.Scope
	unknown map[string]bool // as they are written
}

// Lookup implements expr.Scope.
func (s references) Lookup(ref expr.Ref) (expr.Value, error) {
	v, err := s.known.Lookup(ref)
	if errors.Is(err, expr.ErrUnknown) {
		s.unknown[ref.String()] = true
		return expr.Value{V: ref.String()}, nil
	}
	return v, err
}

package valuetext

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/os/shellword"
)

// Transform changes a value before it is formatted and quoted. It is one of the predefined functions
// or format(PATTERN). The zero Transform leaves values as they are.
type Transform struct {
	name  string
	apply func(any) (any, error)
}

// ErrJavaScript reports that a transform is not predefined. It is then a JavaScript expression, which
// this package does not run.
var ErrJavaScript = errors.New("not a predefined transform")

// TransformList lists the predefined transforms, for messages.
const TransformList = "lowercase, uppercase, trim, base64encode, base64decode, urlencode, urldecode, jsonescaped, shellescaped, format(PATTERN)"

// textTransforms maps names to the predefined functions from text to text.
var textTransforms = map[string]func(string) (string, error){
	"lowercase":    infallible(strings.ToLower),
	"uppercase":    infallible(strings.ToUpper),
	"trim":         infallible(strings.TrimSpace),
	"base64encode": infallible(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"base64decode": decodeBase64,
	"urlencode":    infallible(encodeURL),
	"urldecode":    decodeURL,
	"jsonescaped":  infallible(escapeJSON),
	"shellescaped": infallible(shellword.Single),
}

// TransformNames returns the names of the predefined transforms that take no pattern.
func TransformNames() []string { return slices.Sorted(maps.Keys(textTransforms)) }

// IsTransform reports whether there is a transform without arguments of that name.
func IsTransform(name string) bool { return textTransforms[name] != nil }

func infallible(f func(string) string) func(string) (string, error) {
	return func(s string) (string, error) { return f(s), nil }
}

// String returns the transform as it is written.
func (t Transform) String() string { return t.name }

// Apply returns the transformed value. It transforms an array element by element, and returns nil for
// nil. It fails for a value that the transform cannot take; it never guesses.
func (t Transform) Apply(v any) (any, error) {
	out, err := t.each(v)
	if err == nil && t.apply != nil && Size(out) > MaxValue && Size(v) <= MaxValue {
		return nil, &SizeError{"the result of " + t.name, MaxValue}
	}
	return out, err
}

func (t Transform) each(v any) (any, error) {
	if v == nil || t.apply == nil {
		return v, nil
	}
	elems, ok := v.([]any)
	if !ok {
		return t.apply(v)
	}
	out := make([]any, len(elems))
	for i, e := range elems {
		var err error
		if out[i], err = t.each(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ParseTransforms parses a parameter's `transform`: one predefined transform, or several joined by
// ":", which are applied from left to right. Anything else is treated as JavaScript: the error wraps
// [ErrJavaScript].
func ParseTransforms(src string) ([]Transform, error) {
	var ts []Transform
	for _, name := range SplitTransforms(src) {
		t, err := NewTransform(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("cannot use transform %q: %w", src, err)
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// SplitTransforms splits "trim:format(0:00)" at the colons outside parentheses.
func SplitTransforms(src string) []string {
	var parts []string
	start, depth := 0, 0
	for i := range len(src) {
		switch src[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ':':
			if depth == 0 {
				parts, start = append(parts, src[start:i]), i+1
			}
		}
	}
	return append(parts, src[start:])
}

func NewTransform(name string) (Transform, error) {
	if f, ok := textTransforms[name]; ok {
		return Transform{name: name, apply: func(v any) (any, error) { return f(Of(v, "")) }}, nil
	}
	pattern, ok := strings.CutPrefix(name, "format(")
	if !ok || !strings.HasSuffix(pattern, ")") {
		return Transform{}, ErrJavaScript
	}
	format, err := parseNumberFormat(strings.TrimSuffix(pattern, ")"))
	if err != nil {
		return Transform{}, err
	}
	return Transform{name: name, apply: func(v any) (any, error) { return format.apply(v) }}, nil
}

func decodeBase64(s string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", fmt.Errorf("cannot decode %s as base64: %w", Quoted(s), err)
	}
	return string(b), nil
}

// encodeURL escapes everything except letters, digits and -._~. A space becomes %20, which is correct
// in both paths and queries.
func encodeURL(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

func decodeURL(s string) (string, error) {
	out, err := url.PathUnescape(s)
	if err != nil {
		return "", fmt.Errorf("cannot decode %s as URL text: %w", Quoted(s), err)
	}
	return out, nil
}

// escapeJSON escapes text for use inside a JSON string. It adds no quotes.
func escapeJSON(s string) string {
	text := JSON(s)
	return text[1 : len(text)-1]
}

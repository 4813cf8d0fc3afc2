package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// ParamText returns the value of a parameter: text as it is, anything else as JSON.
func ParamText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// SortedKeys returns the keys of a map in order.
func SortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// AddHint appends a hint to a message, which may end with a question mark.
func AddHint(message, hint string) string {
	if strings.HasSuffix(message, "?") {
		return message + " " + hint
	}
	return message + "; " + hint
}

// Nearest returns a did-you-mean suggestion, or "" if no name is similar.
func Nearest(word string, names []string) string { return NearestAs("%q", word, names) }

// NearestAs is Nearest with a format for the name.
func NearestAs(format, word string, names []string) string {
	if near := tool.Near(word, names); len(near) > 0 {
		return fmt.Sprintf("; did you mean "+format+"?", near[0])
	}
	return ""
}

// DecodeJSON decodes text that must be exactly one JSON value, perhaps after a byte order mark. Numbers keep their notation.
func DecodeJSON(b []byte, into any) error {
	if err := value.CheckJSON(b); err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(diagnostic.WithoutMark(b)))
	d.UseNumber()
	err := d.Decode(into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("is a JSON %s, not an object", wrong.Value)
	}
	if err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("not valid JSON: something follows the value")
	}
	return nil
}

// maxListed is how many ids Listed shows at most.
const maxListed = 20

// Listed joins ids with commas. Of a long list it shows the first ones and the number of the rest.
func Listed[S ~string](ids []S) string {
	words := make([]string, 0, maxListed)
	for i, id := range ids {
		if i == maxListed {
			return fmt.Sprintf("%s and %d more", strings.Join(words, ", "), len(ids)-maxListed)
		}
		words = append(words, string(id))
	}
	return strings.Join(words, ", ")
}

// AfterColon returns ": " and the text, or "" for no text.
func AfterColon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// WriteJSON prints one document.
func WriteJSON(env *Env, doc any) error {
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
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
	if near := diagnostic.Near(word, names); len(near) > 0 {
		return fmt.Sprintf("; did you mean "+format+"?", near[0])
	}
	return ""
}

// DecodeJSON is value.StrictJSON with an error for what a person gave.
func DecodeJSON(b []byte, into any) error {
	err := value.StrictJSON(b, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("is a JSON %s, not an object", wrong.Value)
	}
	if err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
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

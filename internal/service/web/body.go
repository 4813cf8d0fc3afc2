package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// bodyReader reads the bodies of requests within limits of size, time and memory.
type bodyReader struct {
	max             int64         // the size of a body in bytes
	timeout         time.Duration // for reading a body
	unauthenticated bodyBudget
}

// read reads the body of a request whose sender is authenticated.
func (br *bodyReader) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return br.readBy(w, r, io.ReadAll)
}

// readBy reads the request's body with all, within the limits of size and time.
func (br *bodyReader) readBy(w http.ResponseWriter, r *http.Request, all func(io.Reader) ([]byte, error)) ([]byte, error) {
	large := refuse(413, "too-large", fmt.Sprintf("the body is larger than %d bytes", br.max), "send less data, or the name of a file")
	large.header = []string{"Connection", "close"}
	if r.ContentLength > br.max {
		return nil, large
	}
	b, err := all(http.MaxBytesReader(w, r.Body, br.max))
	var over *http.MaxBytesError
	var refused *problem
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case errors.As(err, &over):
		return nil, large
	case errors.Is(err, os.ErrDeadlineExceeded):
		slow := refuse(408, "too-slow", fmt.Sprintf("the body was not received within %v", br.timeout), "")
		slow.header = []string{"Connection", "close"}
		return nil, slow
	case err != nil:
		return nil, &problem{status: 400, Code: "broken-body", Message: "the body is incomplete", header: []string{"Connection", "close"}}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the handler may take its time
	return b, nil
}

// bodyField is a field of a JSON body, and the variable that it is stored in.
type bodyField struct {
	name string
	to   any // *string, *bool, *int, *time.Time, *[]string or *map[string]any
}

// readFields reads the request's body as a JSON object that has no other fields. The variable of a field that is absent
// or null keeps its value, as all do without a body.
func (br *bodyReader) readFields(w http.ResponseWriter, r *http.Request, fields ...bodyField) error {
	b, err := br.read(w, r)
	if err != nil || len(b) == 0 && r.Header.Get("Content-Type") == "" {
		return err
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refuse(415, "media-type", "the content type of the body is not application/json", "send the header Content-Type: application/json")
	}
	v, err := decode(b)
	if err != nil {
		return err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return refuse(400, "not-an-object", "the body is not a JSON object", "")
	}
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	for name := range o {
		if !slices.Contains(known, name) {
			return refuse(400, "unknown-field", fmt.Sprintf("unknown field %q", clip(name)),
				didYouMean(diagnostic.Near(name, known), "the fields are "+strings.Join(known, ", ")))
		}
	}
	for _, f := range fields {
		if v := o[f.name]; v != nil {
			err = cmp.Or(err, f.set(v))
		}
	}
	return err
}

// set stores a value in the variable of the field.
func (f bodyField) set(v any) error {
	kind, ok := "", false
	switch to := f.to.(type) {
	case *string:
		kind = "a string"
		*to, ok = v.(string)
	case *bool:
		kind = "true or false"
		*to, ok = v.(bool)
	case *int:
		kind = "a whole number"
		var err error
		_, isText := v.(string)
		*to, err = strconv.Atoi(fmt.Sprint(v))
		ok = err == nil && !isText
	case *time.Time:
		kind = "a time, such as 2026-11-21T08:00:00Z"
		text, isText := v.(string)
		at, err := time.Parse(time.RFC3339, text)
		*to, ok = at, err == nil && isText
	case *map[string]any:
		kind = "an object"
		*to, ok = v.(map[string]any)
	case *[]string:
		kind = "a list of strings"
		*to, ok = texts(v)
	}
	if !ok {
		return refuse(400, "wrong-type", fmt.Sprintf("the field %s is not %s", f.name, kind), "")
	}
	return nil
}

// texts returns a value that is a list of strings.
func texts(v any) (list []string, ok bool) {
	given, ok := v.([]any)
	for _, v := range given {
		s, isText := v.(string)
		list, ok = append(list, s), ok && isText
	}
	return list, ok
}

// maxLevels is the maximum nesting depth of JSON.
const maxLevels = 63

// decode reads one JSON value as value.StrictJSON does. Deep nesting is an error.
func decode(b []byte) (v any, err error) {
	if err := value.StrictJSON(b, &v); err != nil {
		return nil, refuse(400, "broken-json", "the body is not valid JSON: "+err.Error(), "")
	}
	if deeper(v, maxLevels) {
		return nil, refuse(400, "broken-json", fmt.Sprintf("the body is nested more than %d levels deep", maxLevels), "")
	}
	return v, nil
}

// deeper reports whether a value has more levels of lists and objects.
func deeper(v any, levels int) bool {
	switch v := v.(type) {
	case []any:
		return levels == 0 || slices.ContainsFunc(v, func(e any) bool { return deeper(e, levels-1) })
	case map[string]any:
		return levels == 0 || slices.ContainsFunc(slices.Collect(maps.Values(v)), func(e any) bool { return deeper(e, levels-1) })
	}
	return false
}

// writeJSON responds with one JSON document.
func writeJSON(w http.ResponseWriter, status int, doc any) error {
	b, err := encodeJSON(doc)
	if err != nil {
		return err
	}
	return writeDocument(w, status, b)
}

func encodeJSON(doc any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(doc)
	return b.Bytes(), err
}

// writeDocument responds with encoded JSON. Errors of the connection are ignored.
func writeDocument(w http.ResponseWriter, status int, doc []byte) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(doc)
	return nil
}

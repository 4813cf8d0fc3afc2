package sqlstep

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/call"
)

// table writes rows.
type table interface {
	call.Rows
	end() error
}

// newTable returns the table of a format: json, jsonl or csv.
func newTable(format string, w io.Writer) table {
	switch format {
	case "csv":
		return &csvTable{w: csv.NewWriter(w)}
	case "jsonl":
		return &jsonTable{w: w, after: "\n"}
	}
	return &jsonTable{w: w, list: true}
}

// csvTable writes a line with the names, and one for each row. NULL is an empty field.
type csvTable struct {
	w      *csv.Writer
	fields []string
}

func (t *csvTable) Head(names []string) error {
	t.fields = make([]string, len(names))
	return t.w.Write(names)
}

func (t *csvTable) Row(cells []call.Cell) error {
	for i, c := range cells {
		t.fields[i] = c.Text
	}
	return t.w.Write(t.fields)
}

func (t *csvTable) end() error {
	t.w.Flush()
	return t.w.Error()
}

// jsonTable writes an object for each row: a list of them, or each on a line of its own.
type jsonTable struct {
	w     io.Writer
	list  bool
	after string
	names []string // as JSON
	line  []byte
	rows  int
}

func (t *jsonTable) Head(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("two columns are called %s; give one another name with as, or write format: csv", name)
		}
		t.names = append(t.names, jsonText(name))
	}
	return nil
}

func (t *jsonTable) Row(cells []call.Cell) error {
	t.line = t.line[:0]
	if t.list {
		t.line = append(t.line, map[bool]string{true: "[", false: ",\n "}[t.rows == 0]...)
	}
	t.rows++
	for i, c := range cells {
		t.line = append(t.line, map[bool]byte{true: '{', false: ','}[i == 0])
		t.line = append(append(t.line, t.names[i]...), ':')
		switch c.Kind {
		case call.Null:
			t.line = append(t.line, "null"...)
		case call.TextCell:
			t.line = append(t.line, jsonText(c.Text)...)
		default:
			t.line = append(t.line, c.Text...)
		}
	}
	_, err := t.w.Write(append(append(t.line, '}'), t.after...))
	return err
}

func (t *jsonTable) end() error {
	if !t.list {
		return nil
	}
	end := "]\n"
	if t.rows == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(t.w, end)
	return err
}

func jsonText(s string) string {
	b, _ := json.Marshal(s) // a text always has a form
	return string(b)
}

package sqlstep

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

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

// counted counts the rows of a table, and refuses texts that no format could keep.
type counted struct {
	table
	names []string // of the columns; nil if the statement has none
	n     int64
}

func (c *counted) Head(names []string) error {
	c.names = names
	return c.table.Head(names)
}

func (c *counted) Row(cells []call.Cell) error {
	c.n++
	for i, one := range cells {
		if !utf8.ValidString(one.Text) {
			return fmt.Errorf("column %s of row %d is not a text in UTF-8; select it in another form, such as hex(COLUMN) or encode(COLUMN, 'hex')", c.names[i], c.n)
		}
	}
	return c.table.Row(cells)
}

// discard is the table of a statement whose rows nobody sees.
type discard struct{}

func (discard) Head([]string) error   { return nil }
func (discard) Row([]call.Cell) error { return nil }
func (discard) end() error            { return nil }

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
			t.line = appendLine(t.line, c.Text)
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

// appendLine appends a value of JSON without line ends: a database can keep those of an object.
func appendLine(line []byte, literal string) []byte {
	if !strings.ContainsAny(literal, "\r\n") {
		return append(line, literal...)
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(literal)) != nil {
		return append(line, literal...)
	}
	return append(line, b.Bytes()...)
}

func jsonText(s string) string {
	b, _ := json.Marshal(s) // a text always has a form
	return string(b)
}

package builtin

import (
	"context"
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"io"
	"strings"
)

// maxMedia limits an image, sound, video or PDF that is passed to a model, in bytes.
const maxMedia = 20 << 20

func (f *files) readFile() gostep.GoTool {
	return gostep.GoTool{
		Name: "read_file", DisplayName: "ReadFile", Tags: []string{"read"}, Reads: true,
		Description: "Reads one file. For a text file it returns lines, by default the first 2,000; offset and limit select others. If lines are missing, the answer starts with a note that says how to read the rest. Lines longer than 2,000 characters are cut. Images, audio, video and PDFs of up to 20 MB are returned as they are; other binary files are refused.",
		Schema: parsed(`{
			"type": "object",
			"properties": {
				"absolute_path": {"type": "string", "minLength": 1, "description": "The file to read, as an absolute path. Relative paths are refused.", "examples": ["/home/user/project/main.go"]},
				"offset": {"type": "integer", "minimum": 0, "maximum": 1000000000, "description": "The first line of a text file to read. Line 1 has offset 0.", "examples": [0]},
				"limit": {"type": "integer", "minimum": 1, "maximum": 1000000000, "description": "The maximum number of lines of a text file to read. Default: 2,000.", "examples": [2000]}
			},
			"required": ["absolute_path"],
			"additionalProperties": false
		}`),
		Describe: func(p map[string]any) string { return "Reads the file " + values(p).text("absolute_path") },
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			v := values(in.Params)
			p, err := f.roots(in).find(v.text("absolute_path"))
			if err != nil {
				return nil, err
			}
			return readOne(ctx, p, v)
		},
	}
}

func readOne(ctx context.Context, p place, v values) (*gostep.Content, error) {
	file, info, err := p.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s, err := read(ctx, file)
	if err != nil {
		return nil, describeError(p.path, err)
	}
	if !s.text {
		part, err := media(s, p.path, info.Size())
		if err != nil {
			return nil, err
		}
		return &gostep.Content{Parts: []gostep.Part{part}, Display: fmt.Sprintf("Read %s (%s, %s)", p.path, s.mime, size(info.Size()))}, nil
	}
	offset, _ := v.number("offset")
	limit, given := v.number("limit")
	if !given {
		limit = defaultLines
	}
	e, err := take(s.r, offset, limit, maxText)
	switch {
	case err != nil:
		return nil, describeError(p.path, err)
	case offset > 0 && e.count == 0:
		return nil, fmt.Errorf("%s has %s, so offset %d is past its end; the first line has offset 0", quoted(p.path), plural.Of(e.total, "line"), offset)
	}
	return gostep.TextContent(e.note()+e.text, fmt.Sprintf("Read %s of %s", e.lineRange(), p.path)), nil
}

// media returns a file that is not text as a part of an answer.
func media(s *source, path string, length int64) (gostep.Part, error) {
	switch {
	case !shown(s.mime):
		return gostep.Part{}, fmt.Errorf("%s is a binary file (%s, %s) that read_file cannot read; use a program that supports its format", quoted(path), s.mime, size(length))
	case length > maxMedia:
		return gostep.Part{}, fmt.Errorf("%s (%s) is %s large; the limit is %s", quoted(path), s.mime, size(length), size(maxMedia))
	}
	data, err := io.ReadAll(io.LimitReader(s.r, maxMedia+1))
	switch {
	case err != nil:
		return gostep.Part{}, describeError(path, err)
	case len(data) > maxMedia:
		return gostep.Part{}, fmt.Errorf("%s (%s) grew beyond the limit of %s while it was read", quoted(path), s.mime, size(maxMedia))
	}
	return gostep.Part{MIME: s.mime, Data: data}, nil
}

// note says which lines of a file an excerpt has and how to read the others; "" if it is complete.
func (e excerpt) note() string {
	if e.whole() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[This is not the whole file, only %s.", e.lineRange())
	if end := e.from + e.count; end != e.total {
		fmt.Fprintf(&b, " To continue, use offset %d.", end)
	}
	if e.cut > 0 {
		fmt.Fprintf(&b, " %s cut after %d characters.", were(e.cut, "line"), maxChars)
	}
	return b.String() + "]\n"
}

// lineRange describes the lines of an excerpt, counted from 1.
func (e excerpt) lineRange() string {
	switch {
	case e.count == 0:
		return "no lines"
	case e.total < 0:
		return fmt.Sprintf("lines %d to %d of more", e.from+1, e.from+e.count)
	}
	return fmt.Sprintf("lines %d to %d of %d", e.from+1, e.from+e.count, e.total)
}

package builtin

import (
	"context"
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"strings"
	"unicode/utf8"
)

func (f *files) edit() gostep.GoTool {
	return gostep.GoTool{
		Name: "edit", DisplayName: "Edit", Tags: []string{"write"},
		Description: "Replaces text in a file. The file must contain old_string exactly, including spaces and line breaks, and exactly once, unless expected_replacements or replace_all is set. Include enough lines around the change to make it unique. Nothing is guessed: if old_string does not match, the file is not changed and the error says why. An empty old_string creates a new file.",
		Schema: parsed(`{
			"type": "object",
			"properties": {
				"file_path": {"type": "string", "minLength": 1, "description": "The file to change, as an absolute path. Relative paths are refused.", "examples": ["/home/user/project/main.go"]},
				"old_string": {"type": "string", "description": "The text to replace, exactly as it is in the file. Empty to create a new file with new_string as its content.", "examples": ["timeout = 10"]},
				"new_string": {"type": "string", "description": "The replacement. Empty to delete old_string.", "examples": ["timeout = 30"]},
				"expected_replacements": {"type": "integer", "minimum": 1, "maximum": 1000000, "description": "How many times the file contains old_string, if more than once. All occurrences are replaced."},
				"replace_all": {"type": "boolean", "default": false, "description": "Replace every occurrence of old_string."}
			},
			"required": ["file_path", "old_string", "new_string"],
			"additionalProperties": false
		}`),
		Describe: func(p map[string]any) string {
			v := values(p)
			if v.text("old_string") == "" {
				return "Creates the file " + v.text("file_path")
			}
			return fmt.Sprintf("Replaces %s in %s", quotedPiece(v.text("old_string")), v.text("file_path"))
		},
		Confirm: func(_ context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
			return f.confirm(in, values(in.Params).text("file_path"), editParams(values(in.Params)).rewrite)
		},
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			return f.change(ctx, in, values(in.Params).text("file_path"), editParams(values(in.Params)).rewrite)
		},
	}
}

// quotedPiece returns the beginning of a text in quotes, for one line.
func quotedPiece(text string) string {
	short, cut := firstChars(text, 60)
	if cut {
		short += "..."
	}
	return fmt.Sprintf("%q", short)
}

// editParams holds the parameters of an edit.
type editParams values

// rewrite is the rewriter of an edit.
func (e editParams) rewrite(path string, was version) (string, int, error) {
	v := values(e)
	old, text := v.text("old_string"), v.text("new_string")
	switch {
	case old == "" && was.exists():
		return "", 0, fmt.Errorf("%s already exists, and an empty old_string creates a new file; to replace the whole file, use write_file", quoted(path))
	case old == "":
		return text, 0, nil
	case !was.exists():
		return "", 0, fmt.Errorf("cannot edit %s: the file does not exist; to create it, leave old_string empty", quoted(path))
	}
	held, err := editable(path, was)
	if err != nil {
		return "", 0, err
	}
	if newlines(held) == "\r\n" { // a model writes \n even if the file has \r\n
		old, text = toCRLF(old), toCRLF(text)
	}
	if old == text {
		return "", 0, fmt.Errorf("old_string and new_string are the same, so nothing would change in %s", quoted(path))
	}
	if err := e.checkCount(path, held, old); err != nil {
		return "", 0, err
	}
	count := strings.Count(held, old)
	if length := len(held) + count*(len(text)-len(old)); length > maxWritten {
		return "", 0, fmt.Errorf("the edit would make %s %s large; the limit is %s", quoted(path), size(int64(length)), size(maxWritten))
	}
	return strings.ReplaceAll(held, old, text), count, nil
}

// editable returns the text of a file, or an error if it cannot be edited.
func editable(path string, was version) (string, error) {
	if was.text == nil {
		return "", fmt.Errorf("%s is %s large; edit supports files of up to %s", quoted(path), size(was.info.Size()), size(maxWritten))
	}
	k := kindOf(was.text[:min(len(was.text), headSize)])
	switch {
	case !k.text:
		return "", fmt.Errorf("%s is binary (%s); only text can be edited", quoted(path), k.mime)
	case k.encoding == utf16Low || k.encoding == utf16High:
		return "", fmt.Errorf("%s is %s text, and edit supports only UTF-8; write_file can replace the whole file with UTF-8", quoted(path), k.encoding)
	case !utf8.Valid(was.text):
		return "", fmt.Errorf("%s contains bytes that are not UTF-8; an edit would damage them", quoted(path))
	}
	return string(was.text), nil
}

// checkCount returns an error if old_string does not occur in the text as often as it must.
func (e editParams) checkCount(path, held, old string) error {
	count := strings.Count(held, old)
	want, given := values(e).number("expected_replacements")
	if !given {
		want = 1
	}
	switch {
	case count == 0:
		return fmt.Errorf("old_string was not found in %s; nothing was changed. %s", quoted(path), nearest(held, old))
	case values(e).flag("replace_all"):
		return nil
	case overlaps(held, old) && !given:
		return fmt.Errorf("old_string occurs in %s at overlapping positions, so it is ambiguous; nothing was changed. Include more of the lines around it", quoted(path))
	case count != want && given:
		return fmt.Errorf("old_string occurs %s in %s, but expected_replacements is %d; nothing was changed. Found on %s", times(count), quoted(path), want, where(held, old))
	case count != want:
		return fmt.Errorf("old_string occurs %s in %s, on %s; nothing was changed. Include more of the lines around the occurrence you mean, or set replace_all", times(count), quoted(path), where(held, old))
	}
	return nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return plural.Of(n, "time")
}

// overlaps reports whether two occurrences of a piece in a text overlap.
func overlaps(text, piece string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], piece)
		if i < 0 {
			return false
		}
		at += i
		if next := strings.Index(text[at+1:min(len(text), at+2*len(piece)-1)], piece); next >= 0 {
			return true
		}
		at += len(piece)
	}
}

// where names the lines on which a piece begins, at most ten of them.
func where(text, piece string) string {
	var list []string
	line := 1
	for at := 0; len(list) < 10; {
		i := strings.Index(text[at:], piece)
		if i < 0 {
			return "line " + strings.Join(list, ", ")
		}
		line += strings.Count(text[at:at+i], "\n")
		list = append(list, fmt.Sprint(line))
		line += strings.Count(piece, "\n")
		at += i + len(piece)
	}
	return "line " + strings.Join(list, ", ") + " and others"
}

// newlines returns the line end of a text; "" if its line ends differ or it has none.
func newlines(text string) string {
	all, dos := strings.Count(text, "\n"), strings.Count(text, "\r\n")
	switch {
	case all > 0 && all == dos:
		return "\r\n"
	case all > 0 && dos == 0:
		return "\n"
	}
	return ""
}

func toCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

package builtin

import (
	"context"
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
)

func (f *files) writeFile() gostep.GoTool {
	return gostep.GoTool{
		Name: "write_file", DisplayName: "WriteFile", Tags: []string{"write"},
		Description: "Writes a whole file: creates it, including its parent folders, or replaces its content. To change part of a file, use edit.",
		Schema: parsed(`{
			"type": "object",
			"properties": {
				"file_path": {"type": "string", "minLength": 1, "description": "The file to write, as an absolute path. Relative paths are refused.", "examples": ["/home/user/project/notes.txt"]},
				"content": {"type": "string", "description": "The complete content of the file, written unchanged as UTF-8.", "examples": ["# Notes\n"]}
			},
			"required": ["file_path", "content"],
			"additionalProperties": false
		}`),
		Describe: func(p map[string]any) string {
			return fmt.Sprintf("Writes %s to %s", size(int64(len(values(p).text("content")))), values(p).text("file_path"))
		},
		Confirm: func(_ context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
			return f.confirm(in, values(in.Params).text("file_path"), whole(values(in.Params)))
		},
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			return f.change(ctx, in, values(in.Params).text("file_path"), whole(values(in.Params)))
		},
	}
}

// whole returns the rewriter that replaces the whole text of a file by the call's content.
func whole(v values) rewriter {
	return func(string, version) (string, int, error) { return v.text("content"), 0, nil }
}

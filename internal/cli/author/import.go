package author

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/cron"
	"github.com/flowrun/flowrun/internal/importer/dagu"
	"github.com/flowrun/flowrun/internal/importer/github"
	"github.com/flowrun/flowrun/internal/importer/just"
	"github.com/flowrun/flowrun/internal/importer/makefile"
	"github.com/flowrun/flowrun/internal/importer/taskfile"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// maxImport is the maximum size of a file to import.
const maxImport = 1 << 20

// importOptions are the flags of flowrun import.
type importOptions struct {
	format string
	file   string
	to     string
	output string
	force  bool
	system bool
}

func importFormats() []string { return []string{"cron", "taskfile", "make", "dagu", "github", "just"} }

func importCommand(env *ui.Env) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import FORMAT [FILE]",
		Short: "Write definitions from a crontab, a Makefile and other files",
		Long: `Write definitions from the file of another tool: cron, taskfile, make, dagu, github or just.
FILE is the file, or - for standard input (default).

The definitions go to standard output, one after the other, or with --to into a folder, one file
each. A table on standard error says for every part of the file whether it is exact, changed or
left out. Read it before you run a tool.

The exit code is 0 if nothing was left out, and 1 if something was. See flowrun docs importing.`,
		Example: `  crontab -l | flowrun import cron --to .flowrun/tools
  flowrun import make Makefile --to .flowrun/tools
  flowrun import github .github/workflows/ci.yaml > ci.yaml`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return ui.Usagef(c, "give one of %s, and at most one file", strings.Join(importFormats(), ", "))
			}
			return ui.OneOf(c, "format", args[0], importFormats())
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := ui.OneOf(c, "output", o.output, []string{"text", "json"}); err != nil {
				return err
			}
			o.format, o.file = args[0], "-"
			if len(args) == 2 {
				o.file = args[1]
			}
			if o.system && o.format != "cron" {
				return ui.Usagef(c, "--system is only for cron")
			}
			return importFile(env, o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return importFormats(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "write one file for each tool into `DIR`")
	f.BoolVar(&o.force, "force", false, "replace existing files")
	f.BoolVar(&o.system, "system", false, "cron: the field after the time is a user, as in /etc/crontab")
	f.StringVarP(&o.output, "output", "o", "text", "`format` of the output: text|json")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// imported is a definition that was written.
type imported struct {
	Name       string `json:"name"`
	File       string `json:"file,omitempty"`
	Definition string `json:"definition"`
}

func importFile(env *ui.Env, o importOptions) error {
	src, err := readImport(env, o.file)
	if err != nil {
		return err
	}
	res, err := readFormat(o, src)
	if err != nil {
		return err
	}
	list := validTools(env, res)
	if o.to != "" {
		if err := writeImported(list, o); err != nil {
			return err
		}
	}
	if o.output == "json" {
		err = printImportJSON(env, list, res.Rows)
	} else {
		err = printImport(env, list, res.Rows, o.to != "")
	}
	if err != nil {
		return err
	}
	for _, r := range res.Rows {
		if r.Status == importer.LeftOut {
			return ui.CodeError(outcome.ExitFailed)
		}
	}
	return nil
}

func readImport(env *ui.Env, file string) ([]byte, error) {
	in := env.Stdin
	if terminal, ok := in.(*os.File); ok && file == "-" && ui.IsTerminal(terminal) {
		env.Notef("reading the file from the terminal; it ends with Ctrl-D. To read a file, add its name")
	}
	if file != "-" {
		f, err := os.Open(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, ui.Missing(fmt.Errorf("cannot read %s: the file does not exist", file))
		case err != nil:
			return nil, err
		}
		defer f.Close()
		in = f
	}
	src, err := io.ReadAll(io.LimitReader(in, maxImport+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", file, err)
	case len(src) > maxImport:
		return nil, fmt.Errorf("cannot import %s: it has more than 1 MiB; split it", file)
	}
	return src, nil
}

func readFormat(o importOptions, src []byte) (*importer.Result, error) {
	file := o.file
	if file == "-" {
		file = "stdin"
	}
	switch o.format {
	case "cron":
		return cron.Read(src, o.system)
	case "make":
		return makefile.Read(src)
	case "just":
		return just.Read(src)
	case "taskfile":
		return taskfile.Read(file, src)
	case "github":
		return github.Read(file, src)
	}
	return dagu.Read(file, src)
}

// validTools returns the definitions that flowrun accepts. The others become rows.
func validTools(env *ui.Env, res *importer.Result) []imported {
	list := []imported{}
	for _, t := range res.Tools {
		text, err := importer.Render(t)
		if err == nil {
			err = validDefinition(env, t.Name, text)
		}
		if err != nil {
			res.Drop(t, "flowrun cannot run it: "+firstProblem(err))
			continue
		}
		list = append(list, imported{Name: t.Name, Definition: string(text)})
	}
	return list
}

// firstProblem is the first error of a definition without its place, which is not in the file that is imported.
func firstProblem(err error) string {
	found, _ := errors.AsType[tool.Diagnostics](err)
	if i := slices.IndexFunc(found, diagnostic.IsError); i >= 0 {
		return found[i].Message
	}
	return err.Error()
}

func validDefinition(env *ui.Env, name string, text []byte) error {
	def, found := decode.File(name+".yaml", text)
	if err := found.Err(); err != nil {
		return err
	}
	_, err := engine.CompileDefinition(env.Library(), def)
	return err
}

// writeImported writes all files, or none if one of them exists.
func writeImported(list []imported, o importOptions) error {
	for i := range list {
		list[i].File = filepath.Join(o.to, list[i].Name+".yaml")
		if _, err := os.Lstat(list[i].File); err == nil && !o.force {
			return fmt.Errorf("%s exists, and nothing was written; to replace it: --force", list[i].File)
		}
	}
	if err := os.MkdirAll(o.to, 0o755); err != nil {
		return err
	}
	for _, one := range list {
		f := atomicfile.File{Path: one.File, Mode: 0o644, Exclusive: !o.force}
		if err := f.WriteText([]byte(one.Definition)); err != nil {
			return err
		}
	}
	return nil
}

func printImportJSON(env *ui.Env, list []imported, rows []importer.Row) error {
	if rows == nil {
		rows = []importer.Row{}
	}
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Schema string         `json:"schema"`
		Tools  []imported     `json:"tools"`
		Rows   []importer.Row `json:"rows"`
	}{"flowrun/import.v1", list, rows})
}

func printImport(env *ui.Env, list []imported, rows []importer.Row, written bool) error {
	for i, one := range list {
		if written {
			fmt.Fprintln(env.Stdout, one.File)
			continue
		}
		if i > 0 {
			fmt.Fprintln(env.Stdout, "---")
		}
		if _, err := io.WriteString(env.Stdout, one.Definition); err != nil {
			return err
		}
	}
	reasons, notes := footnotes(rows)
	var table [][]string
	for i, r := range rows {
		table = append(table, []string{r.What, fmt.Sprint(r.Line), r.To, string(r.Status), reasons[i]})
	}
	if len(table) == 0 {
		env.Notef("the file has nothing to import")
		return nil
	}
	if err := console.Table(env.Stderr, console.Columns("WHAT", "LINE", "TO", "STATUS", "REASON"), table, console.TableOptions{}); err != nil {
		return err
	}
	for i, note := range notes {
		fmt.Fprintf(env.Stderr, "[%d] %s\n", i+1, note)
	}
	if len(list) > 1 && !written {
		env.Notef("these are %d definitions; to write each to a file: --to DIR", len(list))
	}
	return nil
}

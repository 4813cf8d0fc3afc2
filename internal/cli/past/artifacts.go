package past

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func artifactsCommand(env *ui.Env) *cobra.Command {
	var to, output string
	c := &cobra.Command{
		Use:   "artifacts RUN [NAME]",
		Short: "List or copy the files that were kept of the steps of a run",
		Long: `List the artifacts of a run: files that its steps declared under artifacts, and that were
kept when the steps ended. With NAME, list the files of one artifact. If several steps
have an artifact with that name, write STEP/NAME.

--to copies the files into a folder: those of one artifact into the folder itself, those
of all artifacts into a folder STEP/NAME for each. No existing file is replaced, and each
file is verified by its digest. --to - writes the only file of an artifact to standard output.`,
		Example: `  flowrun artifacts latest
  flowrun artifacts latest report --to .
  flowrun artifacts 1m80y build/report --to - | less
  flowrun artifacts latest -o json | jq -r '.artifacts[].digest'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return ui.Usagef(c, "give a run, and optionally the name of an artifact")
			}
			if to == "-" && len(args) == 1 {
				return ui.Usagef(c, "--to - needs the name of an artifact")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				run, err := env.LoadRun(ctx, s, findrun.Read, args[0])
				if err != nil {
					return err
				}
				all := run.Result().Artifacts()
				if len(args) == 2 {
					one, err := artifactNamed(c, run.Record.ID, all, args[1])
					if err != nil {
						return err
					}
					return oneArtifact(env, run.Record.ID, one, to, output)
				}
				return allArtifacts(env, run.Record.ID, all, to, output)
			})
		},
		ValidArgsFunction: runview.CompleteRunID(env, findrun.Read),
	}
	c.Flags().StringVar(&to, "to", "", "copy the files into this `folder`; - is standard output")
	ui.OutputFlag(c, &output, "text", "json")
	return c
}

// artifactNamed finds the artifact that an argument names.
func artifactNamed(c *cobra.Command, run string, all []runresult.KeptArtifact, word string) (*runresult.KeptArtifact, error) {
	var found []*runresult.KeptArtifact
	var names []string
	for i := range all {
		full := all[i].Step + "/" + all[i].Name
		names = append(names, full)
		if word == all[i].Name || word == full {
			found = append(found, &all[i])
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, ui.Usagef(c, "several artifacts have the name %q: %s", word, listed(found))
	case len(all) == 0:
		return nil, ui.Missing(fmt.Errorf("run %s has no artifacts", run))
	}
	return nil, ui.Missing(fmt.Errorf("run %s has no artifact %q%s; to list its artifacts: flowrun artifacts %[1]s", run, word, ui.Nearest(word, names)))
}

func listed(found []*runresult.KeptArtifact) string {
	var names []string
	for _, a := range found[:min(len(found), 10)] {
		names = append(names, a.Step+"/"+a.Name)
	}
	if len(found) > 10 {
		names = append(names, fmt.Sprintf("and %d more", len(found)-10))
	}
	return strings.Join(names, ", ")
}

func allArtifacts(env *ui.Env, run string, all []runresult.KeptArtifact, to, output string) error {
	for i := range all {
		if to == "" {
			break
		}
		if err := fetch(env, &all[i], filepath.Join(to, rundir.FileName(all[i].Step), all[i].Name)); err != nil {
			return err
		}
	}
	switch {
	case output == "json":
		return ui.WriteJSON(env, artifactsJSON{Schema: artifactsSchema, Run: run, Artifacts: encoded(all)})
	case to != "":
		return nil
	case len(all) == 0:
		env.Notef("run %s has no artifacts", run)
		return nil
	}
	rows := make([][]string, len(all))
	for i, a := range all {
		expires := ""
		if !a.Expires.IsZero() {
			expires = a.Expires.Local().Format(time.DateTime)
		}
		rows[i] = []string{a.Step, a.Name, fmt.Sprint(a.Files), ui.FormatBytes(a.Size), expires, a.Digest[:min(len(a.Digest), 19)]}
	}
	header := withoutEmpty([]console.Column{{Title: "STEP"}, {Title: "NAME"}, {Title: "FILES", Yields: 3, Whole: true}, {Title: "SIZE", Yields: 4, Whole: true}, {Title: "UNTIL", Yields: 2, Whole: true}, {Title: "DIGEST", Yields: 1, Whole: true}}, rows, 4)
	return ui.Table(env, header, rows, nil)
}

const artifactsSchema = "flowrun/artifacts.v1"

// artifactsJSON is the list of artifacts of a run. Files are those of the only artifact, if one was named.
type artifactsJSON struct {
	Schema    string                   `json:"schema"`
	Run       string                   `json:"run"`
	Artifacts []runresult.KeptArtifact `json:"artifacts"`
	Files     []artifact.File          `json:"files,omitempty"`
}

// encoded returns artifacts with their paths as JSON has them.
func encoded(all []runresult.KeptArtifact) []runresult.KeptArtifact {
	all = slices.Clone(all)
	for i := range all {
		all[i].Artifact = artifact.Encoded(all[i].Artifact)
	}
	return all
}

func oneArtifact(env *ui.Env, run string, a *runresult.KeptArtifact, to, output string) error {
	c, err := open(env, a)
	if err != nil {
		return err
	}
	defer c.Close()
	switch {
	case to == "-" && !c.Single:
		return fmt.Errorf("artifact %s has several files: copy them into a folder with --to DIR", a.Name)
	case to == "-":
		return c.Verify(c.Files[0].Path, env.Stdout)
	case to != "":
		if err := fetch(env, a, to); err != nil {
			return err
		}
	}
	if output == "json" {
		return ui.WriteJSON(env, artifactsJSON{artifactsSchema, run, encoded([]runresult.KeptArtifact{*a}), c.Files})
	}
	if to != "" {
		return nil
	}
	rows := make([][]string, len(c.Files))
	for i, f := range c.Files {
		rows[i] = []string{f.Path, ui.FormatBytes(f.Size), cmp.Or(f.Digest, "-> "+f.Target)}
		if f.Folder {
			rows[i] = []string{f.Path + "/", "", ""}
		}
	}
	return ui.Table(env, []console.Column{{Title: "FILE"}, {Title: "SIZE", Yields: 2, Whole: true}, {Title: "DIGEST", Yields: 1}}, rows, nil)
}

// open opens an artifact. The caller closes it.
func open(env *ui.Env, a *runresult.KeptArtifact) (*artifact.Content, error) {
	here, err := a.Artifact, error(nil)
	if env.Artifact != nil {
		here, err = env.Artifact(here)
	}
	var c *artifact.Content
	if err == nil {
		c, err = artifact.Open(here)
	}
	if err != nil {
		return nil, gone(a, err)
	}
	return c, nil
}

// fetch copies an artifact into a folder.
func fetch(env *ui.Env, a *runresult.KeptArtifact, to string) error {
	c, err := open(env, a)
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.CopyTo(to)
	if exists, ok := errors.AsType[*atomicfile.ExistsError](err); ok {
		return fmt.Errorf("cannot copy artifact %s: %s exists in %s; choose another folder", a.Name, console.Quote(exists.Path), console.Quote(to))
	}
	if err != nil {
		return gone(a, err)
	}
	files := slices.DeleteFunc(slices.Clone(c.Files), func(f artifact.File) bool { return f.Folder })
	env.Notef("copied %s/%s to %s (%s)", console.Clean(a.Step), a.Name, console.Quote(to), plural.Of(len(files), "file"))
	return nil
}

func gone(a *runresult.KeptArtifact, err error) error {
	return fmt.Errorf("cannot read artifact %s of step %s: %w", a.Name, a.Step, err)
}

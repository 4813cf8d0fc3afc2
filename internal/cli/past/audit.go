package past

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/audit"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

func auditCommand(env *ui.Env) *cobra.Command {
	var limit int
	var output string
	c := &cobra.Command{
		Use:   "audit",
		Short: "List who approved, resumed, cancelled and removed runs",
		Long: `List the audit log, newest entry first. The actions are:

  start             a named user of the service started a run
  approve, refuse   a call needed consent, and was allowed or refused
  answer            the question of a run was answered
  resume, cancel    a run was resumed, or asked to stop
  prune             runs were removed from the history
  notify            a notification could not be sent
  attention         somebody was notified of what needs attention
  interrupted       the process of a run was killed`,
		Example: `  flowrun history audit --limit 10
  flowrun history audit -o json | jq '.entries[].decision'`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 0 {
				return ui.Usagef(c, "--limit must be at least 1, or 0 for all")
			}
			return env.ReadHistory(func(ctx context.Context, s ui.History) error {
				doc, err := audit.Read(ctx, s.Audit(), sqlite.AuditQuery{Limit: limit})
				if err != nil {
					return err
				}
				doc.Next = 0 // of the API: a command has no next page
				return printAudit(env, doc, output)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "list at most `n` entries; 0 lists all")
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

func printAudit(env *ui.Env, doc audit.Document, output string) error {
	if output == "json" {
		return ui.WriteJSON(env, doc)
	}
	var rows [][]string
	for _, e := range doc.Entries {
		rows = append(rows, []string{e.At.Local().Format(time.DateTime), e.Who, e.Action, e.Run, console.Visible(e.Detail)})
	}
	return ui.Table(env, []console.Column{{Title: "AT", Yields: 3, Whole: true}, {Title: "WHO", Yields: 2}, {Title: "ACTION"}, {Title: "RUN"}, {Title: "DETAIL", Yields: 1, Prose: true}}, rows, nil)
}

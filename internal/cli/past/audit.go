package past

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// auditJSON is one entry in the document flowrun/audit.v1.
type auditJSON struct {
	At       time.Time        `json:"at"`
	Who      string           `json:"who"`
	Action   string           `json:"action"`
	Run      string           `json:"run,omitempty"`
	Detail   string           `json:"detail"`
	Decision *launch.Decision `json:"decision,omitempty"`
}

// auditEntry converts an entry, and decodes its decision if it has one.
func auditEntry(e sqlite.Entry) auditJSON {
	j := auditJSON{At: e.At.UTC(), Who: e.Who, Action: e.Action, Run: e.Run, Detail: e.Detail}
	if e.Action == launch.AuditApprove || e.Action == launch.AuditRefuse {
		var d launch.Decision
		if json.Unmarshal([]byte(e.Detail), &d) == nil {
			j.Decision, j.Detail = &d, d.String()
		}
	}
	return j
}

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
				list, err := s.Audit().Entries(ctx, limit)
				if err != nil {
					return err
				}
				return audit(env, list, output)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "list at most `n` entries; 0 lists all")
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

func audit(env *ui.Env, list []sqlite.Entry, output string) error {
	if output == "json" {
		doc := struct {
			Schema  string      `json:"schema"`
			Entries []auditJSON `json:"entries"`
		}{"flowrun/audit.v1", []auditJSON{}}
		for _, e := range list {
			doc.Entries = append(doc.Entries, auditEntry(e))
		}
		return ui.WriteJSON(env, doc)
	}
	var rows [][]string
	for _, e := range list {
		rows = append(rows, []string{e.At.Local().Format(time.DateTime), e.Who, e.Action, e.Run, auditEntry(e).Detail})
	}
	return ui.Table(env, []console.Column{{Title: "AT", Yields: 3, Whole: true}, {Title: "WHO", Yields: 2}, {Title: "ACTION"}, {Title: "RUN"}, {Title: "DETAIL", Yields: 1, Prose: true}}, rows, nil)
}

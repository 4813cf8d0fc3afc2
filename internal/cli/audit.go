package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
)

// Actions of the audit list whose detail is a decision.
const (
	auditApprove = "approve"
	auditRefuse  = "refuse"
)

// decision is what the audit list keeps of a call that was asked about or refused
// (S1-217, S1-218). Secrets are masked in it.
type decision struct {
	Tool        string            `json:"tool"`
	Definition  string            `json:"definition,omitempty"` // digest
	Door        string            `json:"door"`
	Verdict     string            `json:"verdict"`            // approved or refused
	By          string            `json:"by"`                 // policy, or terminal: a person
	Terminal    string            `json:"terminal,omitempty"` // its device, such as /dev/pts/3
	Reason      string            `json:"reason"`
	Elevated    bool              `json:"elevated,omitempty"`
	Permissions []string          `json:"permissions,omitempty"` // resolved
	Params      map[string]string `json:"params,omitempty"`
}

func (d decision) String() string {
	s := fmt.Sprintf("%s by %s: %s", d.Verdict, strings.TrimSpace(d.By+" "+d.Terminal), d.Reason)
	if len(d.Permissions) > 0 {
		s += "; wants " + strings.Join(d.Permissions, ", ")
	}
	return console.Visible(s)
}

// auditJSON is an entry of flowrun/audit.v1.
type auditJSON struct {
	At       time.Time `json:"at"`
	Who      string    `json:"who"`
	Action   string    `json:"action"`
	Run      string    `json:"run,omitempty"`
	Detail   string    `json:"detail"`
	Decision *decision `json:"decision,omitempty"`
}

// audited is an entry with its decision, where it holds one.
func audited(e sqlite.Entry) auditJSON {
	j := auditJSON{At: e.At.UTC(), Who: e.Who, Action: e.Action, Run: e.Run, Detail: e.Detail}
	if e.Action == auditApprove || e.Action == auditRefuse {
		var d decision
		if json.Unmarshal([]byte(e.Detail), &d) == nil {
			j.Decision, j.Detail = &d, d.String()
		}
	}
	return j
}

func (env *Env) auditCommand() *cobra.Command {
	var limit int
	var output string
	c := &cobra.Command{
		Use:   "audit",
		Short: "List who approved, resumed, cancelled and removed runs",
		Long: `List who did what, newest first: approve and refuse are what became of calls that a
person was asked about or that were not allowed, resume took a run up again, cancel
asked for its end, prune removed some, notify is a notice that could not be sent.`,
		Example: `  flowrun history audit --limit 10
  flowrun history audit -o json | jq '.entries[].decision'`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := oneOf(c, "output", output, []string{"table", "json"}); err != nil {
				return err
			}
			if limit < 0 {
				return usagef(c, "--limit must be at least 1, or 0 for all")
			}
			return env.reading(func(ctx context.Context, s *sqlite.Store) error {
				list, err := s.Audits(ctx, limit)
				if err != nil {
					return err
				}
				return env.audit(list, output)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "list at most `n` entries; 0 is all")
	c.Flags().StringVarP(&output, "output", "o", "table", "print in this `form`: table|json")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (env *Env) audit(list []sqlite.Entry, output string) error {
	if output == "json" {
		doc := struct {
			Schema  string      `json:"schema"`
			Entries []auditJSON `json:"entries"`
		}{"flowrun/audit.v1", []auditJSON{}}
		for _, e := range list {
			doc.Entries = append(doc.Entries, audited(e))
		}
		return env.writeJSON(doc)
	}
	var rows [][]string
	for _, e := range list {
		rows = append(rows, []string{e.At.Local().Format(time.DateTime), e.Who, e.Action, e.Run, audited(e).Detail})
	}
	return console.Table(env.Stdout, []string{"AT", "WHO", "ACTION", "RUN", "DETAIL"}, rows, console.TableOptions{Width: env.width()})
}

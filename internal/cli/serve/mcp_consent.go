package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/observe/audit"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/registry"
)

// mcpApprover implements mcp.Approver with the policy of flags and settings. It records every
// refusal and every answer of a person in the audit log.
type mcpApprover mcpServer

// Decide implements mcp.Approver.
func (m *mcpApprover) Decide(ctx context.Context, i *registry.Invocation, canAsk bool) registry.Decision {
	v := m.decision(i, canAsk)
	switch v.Action {
	case policy.Allow:
		return registry.Decision{Action: registry.Proceed}
	case policy.Ask:
		return registry.Decision{Action: registry.Ask}
	}
	if err := m.record(ctx, i, v, "policy", false); err != nil {
		m.log.Warn("cannot record a refusal", "tool", i.Tool.Name(), "error", err.Error())
	}
	return registry.Decision{Action: registry.Refuse} // the reason is in the audit log
}

// decision returns the decision of the policy.
func (m *mcpApprover) decision(i *registry.Invocation, canAsk bool) policy.Decision {
	return m.flags.Decide(i.Tool.Plan().Tools(), "", canAsk)
}

// cardWidth is the width of the text that a person is shown, in columns.
const cardWidth = 80

// Card implements mcp.Approver. It is the text that flowrun shows at a terminal, in full.
func (m *mcpApprover) Card(i *registry.Invocation, shown *gostep.Confirmation) (string, error) {
	preview, err := i.Preview()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "A model calls a tool: %s\n", console.Visible(shown.Title))
	details := []string{shown.Text}
	if shown.Diff != nil {
		details = append(details, shown.Diff.FileDiff)
	}
	for _, text := range details {
		if text != "" {
			b.WriteString(console.Block(text) + "\n")
		}
	}
	b.WriteString("\n")
	_, err = launch.ApprovalCard(m.decision(i, true), preview).Write(&b, cardWidth, true)
	return b.String(), err
}

// Record implements mcp.Approver.
func (m *mcpApprover) Record(ctx context.Context, i *registry.Invocation, approved bool) error {
	if err := m.record(ctx, i, m.decision(i, true), "client", approved); err != nil {
		return fmt.Errorf("cannot record the decision about tool %s, so it is not run: %w", i.Tool.Name(), err)
	}
	return nil
}

// record writes a decision to the audit log.
func (m *mcpApprover) record(ctx context.Context, i *registry.Invocation, v policy.Decision, by string, approved bool) error {
	return launch.RecordCall(ctx, m.env, m.store, i, audit.Decision{EntryPoint: string(policy.MCP), By: by, Reason: v.Reason}, approved)
}

// readOnly reports whether a tool and all tools that it uses may only read.
func (m *mcpServer) readOnly(p *engine.Plan) bool {
	return !slices.ContainsFunc(m.flags.ModelFacts(p.Tools(), ""), func(t policy.Tool) bool { return !t.ReadOnly() })
}

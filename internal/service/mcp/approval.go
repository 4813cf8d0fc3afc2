package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/registry"
)

// Approver decides which calls are allowed, and keeps a record of decisions, for the person of the
// context (history.ActorOf). It must be safe for concurrent use.
type Approver interface {
	// Decide returns the decision of the policy. canAsk says whether a person can be asked.
	Decide(ctx context.Context, i *registry.Invocation, canAsk bool) registry.Decision
	// Card returns what a person is shown before they decide.
	Card(i *registry.Invocation, shown *gostep.Confirmation) (string, error)
	// Record is called with the answer of a person. If it fails, the call is not carried out.
	Record(ctx context.Context, i *registry.Invocation, approved bool) error
}

// decide returns the decision of the policy.
func (s *Server) decide(ctx context.Context, c *toolCall, i *registry.Invocation) registry.Decision {
	if !s.Offers(i.Tool.Name()) {
		return registry.Decision{Action: registry.Refuse, Reason: "this server does not offer the tool", Hint: "call one of the listed tools"}
	}
	return s.config.Approver.Decide(ctx, i, c.canAsk())
}

// Offers reports whether clients can see a tool.
func (s *Server) Offers(name string) bool {
	_, ok := s.offerOf(name)
	return ok
}

// canAsk reports whether the client can show a person a question.
func (c *toolCall) canAsk() bool {
	caps := c.client
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil // older clients name no kind; they show forms
}

// confirm returns the question to a person in the first round, and their decision in the second.
func (s *Server) confirm(ctx context.Context, c *toolCall, i *registry.Invocation, shown *gostep.Confirmation) (registry.Decision, *question) {
	about := openApproval{asked: users.CallerOf(ctx).Identity, tool: i.Tool.Name(), call: digestOfCall(digestsOf(i.Tool.Plan()), c.text, shown)}
	if c.state != "" {
		return s.answered(ctx, c, i, s.approvals.take(c.state, about)), nil
	}
	card, err := s.config.Approver.Card(i, shown)
	if err != nil {
		return registry.Decision{Err: err}, nil
	}
	state, ok := s.approvals.add(about)
	if !ok {
		return registry.Decision{Action: registry.Refuse, Reason: "too many other calls wait for the approval of a person"}, nil
	}
	return registry.Decision{}, &question{card, state}
}

// answered returns the decision of a person. known reports whether they were asked about
// exactly this call.
func (s *Server) answered(ctx context.Context, c *toolCall, i *registry.Invocation, known bool) registry.Decision {
	reply, _ := c.answers[approvalID].(*mcp.ElicitResult)
	switch {
	case !known:
		return registry.Decision{Action: registry.Refuse, Reason: "the answer does not belong to this call, or it came too late"}
	case reply == nil || reply.Action == "cancel":
		return registry.Decision{Action: registry.Cancel}
	}
	approved := reply.Action == "accept" && reply.Content[decisionField] == "approve"
	if err := s.config.Approver.Record(ctx, i, approved); err != nil {
		return registry.Decision{Err: err}
	}
	if !approved {
		return registry.Decision{Action: registry.Refuse}
	}
	return registry.Decision{Action: registry.Proceed}
}

// digestsOf identifies the definitions that a plan runs.
func digestsOf(p *engine.Plan) string {
	var digests []string
	for _, src := range p.Sources() {
		digests = append(digests, src.Digest)
	}
	return strings.Join(digests, " ")
}

// approvalID is the name of the question among the requests of a result.
const approvalID = "approval"

// question is what a person is asked about a call.
type question struct{ card, state string }

// requests returns what the client is asked to show.
func (q *question) requests() mcp.InputRequestMap {
	return mcp.InputRequestMap{approvalID: &mcp.ElicitParams{
		Mode:            "form",
		Message:         q.card,
		RequestedSchema: decisionSchema("approve runs the tool once, with exactly these parameters"),
	}}
}

// digestOfCall identifies a call: the definitions, the arguments, and what a person is shown of it,
// such as the change of a file. If any of them is different in the second round, the answer was not
// about this call.
func digestOfCall(definition, arguments string, shown *gostep.Confirmation) [sha256.Size]byte {
	text, err := json.Marshal([]any{definition, arguments, shown})
	if err != nil { // never: texts can be encoded
		text = []byte(rand.Text())
	}
	return sha256.Sum256(text)
}

// approvals holds the questions that clients were asked to show. Each can be answered once. Only
// the client that was asked knows the state of a question, nobody can guess it, and only the caller who
// was asked can answer. It is not bound to a session, because some versions of the protocol have none.
type approvals struct {
	mu   sync.Mutex
	open map[string]openApproval // by the state that the client returns
}

// openApproval is the call that a question is about.
type openApproval struct {
	asked   users.Identity // whose client was asked
	tool    string
	call    [sha256.Size]byte
	expires time.Time
}

const (
	// approvalTime is how long a person may take to answer.
	approvalTime = 15 * time.Minute
	// maxOpenApprovals limits the memory that clients can fill with questions.
	maxOpenApprovals = 1000
)

// add keeps a question, and returns the state that identifies it. It drops questions that have
// expired; ok is false if there are too many others.
func (a *approvals) add(o openApproval) (state string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for id, other := range a.open {
		if now.After(other.expires) {
			delete(a.open, id)
		}
	}
	if len(a.open) >= maxOpenApprovals {
		return "", false
	}
	if a.open == nil {
		a.open = map[string]openApproval{}
	}
	o.expires = now.Add(approvalTime)
	state = rand.Text()
	a.open[state] = o
	return state, true
}

// take removes a question and reports whether it was about this call, and has not expired.
func (a *approvals) take(state string, o openApproval) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked, found := a.open[state]
	delete(a.open, state)
	current := time.Now().Before(asked.expires)
	asked.expires = time.Time{}
	return found && current && asked == o
}

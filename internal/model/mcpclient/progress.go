package mcpclient

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressReports passes notifications of progress to the calls that they belong to.
type progressReports struct {
	mu    sync.Mutex
	last  int
	calls map[string]func(done, total float64, message string) // by token
}

// begin returns the token of a call whose progress goes to report. Call end when the call has ended.
func (p *progressReports) begin(report func(done, total float64, message string)) (token string, end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[string]func(float64, float64, string){}
	}
	p.last++
	token = fmt.Sprintf("call-%d", p.last)
	p.calls[token] = report
	return token, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls, token)
	}
}

// notify passes on a notification.
func (p *progressReports) notify(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	token, _ := req.Params.ProgressToken.(string)
	p.mu.Lock()
	report := p.calls[token]
	p.mu.Unlock()
	if report != nil {
		report(req.Params.Progress, req.Params.Total, strings.Join(strings.Fields(plainText(req.Params.Message, maxTitle)), " "))
	}
}

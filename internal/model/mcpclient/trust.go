package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// The tools of a trusted server need no approval as long as they look as they did when the server
// was first used. A server could otherwise offer something harmless and change it later.

// accepted is what the tools of a trusted server looked like when the user accepted them.
type accepted struct {
	Server string            `json:"server"`
	Tools  map[string]string `json:"tools"` // digests by name
}

// trustedTools returns the tools whose calls need no approval. At the first use of a server these
// are all that it lists.
func (r *remote) trustedTools(listed []*mcp.Tool) map[string]bool {
	trusted := map[string]bool{}
	if !r.config.Trust || r.client.config.StateDir == "" {
		return trusted
	}
	a, err := r.accepted()
	if errors.Is(err, fs.ErrNotExist) {
		a = accepted{Tools: digests(listed)}
		err = r.accept(listed)
	}
	if err != nil {
		r.report(fmt.Sprintf("its tools need approval, although it is trusted: %v", err))
		return trusted
	}
	var changed []string
	for name, digest := range digests(listed) {
		if trusted[name] = a.Tools[name] == digest; !trusted[name] {
			changed = append(changed, plainText(name, maxTitle))
		}
	}
	if len(changed) > 0 {
		slices.Sort(changed)
		r.report(fmt.Sprintf("these tools have changed since it was trusted, and need approval: %s; to see and accept them: flowrun mcp tools %s --accept",
			strings.Join(changed[:min(len(changed), 20)], ", "), shellword.Sh(r.config.Name)))
	}
	return trusted
}

// accept stores what the tools look like now.
func (r *remote) accept(listed []*mcp.Tool) error {
	text, err := json.Marshal(accepted{r.config.Name, digests(listed)})
	if err == nil {
		err = atomicfile.Save(r.acceptedFile(), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("cannot store what they look like: %w", err)
	}
	return nil
}

func (r *remote) accepted() (a accepted, err error) {
	text, err := ownership.ReadFile(r.acceptedFile())
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("cannot read %s: %w; remove it", r.acceptedFile(), err)
	}
	return a, nil
}

// acceptedFile returns the file for a server with these settings. A change of the settings, which
// the user has made or trusted, begins anew.
func (r *remote) acceptedFile() string {
	c := r.config
	text, err := json.Marshal([]any{c.Owner, c.Name, c.Command, c.Args, c.Dir, c.URL, c.HTTPURL})
	if err != nil {
		text = []byte(c.Name) // cannot happen: these are texts
	}
	sum := sha256.Sum256(text)
	return filepath.Join(r.client.config.StateDir, "mcp", hex.EncodeToString(sum[:16])+".json")
}

// digests returns a digest of everything that models and people see of each tool. If a name is listed
// more than once, its digest is that of all: only the first is used, and must not pass for another.
func digests(listed []*mcp.Tool) map[string]string {
	list := map[string]string{}
	for _, t := range listed {
		text, err := json.Marshal([]any{t.Name, titleOf(t), t.Description, t.InputSchema})
		if err != nil {
			continue // it has no digest, so it is not trusted
		}
		sum := sha256.Sum256(append([]byte(list[t.Name]), text...))
		list[t.Name] = hex.EncodeToString(sum[:])
	}
	return list
}

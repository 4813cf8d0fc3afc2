package limitednet

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// TestProxyVariables: programs find the proxy by their various names for it, and their own machine without it only if all
// of it is granted.
func TestProxyVariables(t *testing.T) {
	for direct, none := range map[bool]string{true: "localhost,127.0.0.1,::1", false: ""} {
		list := ProxyVariables("127.0.0.2:81", direct)
		for _, want := range []string{"HTTP_PROXY=http://127.0.0.2:81", "https_proxy=http://127.0.0.2:81", "ALL_PROXY=http://127.0.0.2:81", "NO_PROXY=" + none, "no_proxy=" + none} {
			if !slices.Contains(list, want) {
				t.Errorf("no %s in %q", want, list)
			}
		}
	}
}

// TestLoopbackAddress: where a port of this machine is expected in the namespace.
func TestLoopbackAddress(t *testing.T) {
	for host, want := range map[string]string{"localhost": "127.0.0.1:5432", "127.0.0.9": "127.0.0.9:5432", "::1": "[::1]:5432"} {
		if got := loopbackAddress(host, "5432").String(); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}

// TestRefused: each attempt hears its own refusals, each reason once; the notices of a run are bounded.
func TestRefused(t *testing.T) {
	var notices []string
	s := &Networks{Refused: func(step dag.ID, target, reason string) {
		notices = append(notices, string(step)+" "+target+": "+reason)
	}}
	n := &network{of: s, attempts: map[netip.Addr]*Place{}, reported: map[string]bool{}}
	a, b := n.join("a"), n.join("b")
	if a.address == b.address {
		t.Errorf("two attempts have the address %s", a.address)
	}
	for range 3 {
		n.refuse(a.address, "example.com", "443", errors.New("no"))
	}
	if a.Refusals() != 3 || b.Refusals() != 0 || !slices.Equal(notices, []string{"a example.com:443: no"}) {
		t.Errorf("%d and %d refusals, notices %q", a.Refusals(), b.Refusals(), notices)
	}
	r := dag.Result{Status: dag.Failed, Message: "exit 1"}
	if a.Explain(&r); r.Message != "exit 1; no" {
		t.Error(r.Message)
	}
	ok := dag.Result{Status: dag.Succeeded}
	if a.Explain(&ok); ok.Message != "" {
		t.Error(ok.Message)
	}
	for i := range 100 {
		n.refuse(b.address, fmt.Sprint("host", i), "80", fmt.Errorf("reason %d", i))
	}
	failed := dag.Result{Status: dag.Failed}
	if b.Explain(&failed); strings.Count(failed.Message, "reason") != maxRefusedStep || len(notices) != maxRefusedRun {
		t.Errorf("%q and %d notices", failed.Message, len(notices))
	}
	b.Leave()
	n.refuse(b.address, "late", "80", errors.New("no"))
	if b.Refusals() != 100 {
		t.Errorf("an attempt that has left has %d refusals", b.Refusals())
	}
	var none *Place // of a step that may reach everything
	if none.Leave(); none.Refusals() != 0 || none.Variables() != nil || none.Namespaces() != nil {
		t.Error("no place has something")
	}
}

//go:build unix

package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/engine/sshcommand"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// frame is a call in a workspace.
type frame struct {
	confinement confinement.Confinement
	workspace   string
}

func (f frame) Confinement() confinement.Confinement { return f.confinement }

func (f frame) Resolve(_, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.workspace, path)
}

// newConnection returns a connection to an account, whose own files are in the folder files.
func newConnection(account *Account, f frame, grants permission.Grants, files string) *Connection {
	account.Grants = func(Frame) permission.Grants { return grants }
	c := &Client{Account: account, Frame: f, Mask: &mask.Mask{}, Shared: &Connections{}}
	c.File = func(pattern, text string) (string, error) {
		file, err := os.CreateTemp(files, pattern)
		if err != nil {
			return "", err
		}
		_, err = file.WriteString(text)
		return file.Name(), errors.Join(err, file.Close())
	}
	return c.New()
}

// What a command may connect to, and at which address. Addresses need no resolver.
func TestTarget(t *testing.T) {
	dir := permission.RealPath(t.TempDir())
	if err := os.WriteFile(filepath.Join(dir, "id"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	word := expr.Literal
	enforced := confinement.Confinement{Enforced: true}
	granted := permission.Grants{"network:local:10.0.0.5:22", "network:local:10.0.0.9:2222", "filesystem:read:" + dir}
	for _, c := range []struct {
		name    string
		account Account
		frame   confinement.Confinement
		grants  permission.Grants
		want    sshcommand.Target
		refused string
	}{
		{name: "the client decides", account: Account{Host: word("db1")}, want: sshcommand.Target{Host: "db1"}},
		{name: "everything", account: Account{Host: word("db1"), User: word("deploy"), Port: word("2222"), Jump: word("me@gate:22"), KeyFile: word("id"), KnownHosts: word(filepath.Join(dir, "id")), Timeout: time.Second},
			want: sshcommand.Target{Host: "db1", User: "deploy", Port: "2222", Jump: "me@gate:22", KeyFile: filepath.Join(dir, "id"), KnownHosts: filepath.Join(dir, "id"), Timeout: time.Second}},
		{name: "an option as host", account: Account{Host: word("-oProxyCommand=x")}, refused: "cannot use ssh.host"},
		{name: "an option as user", account: Account{Host: word("db1"), User: word("-l")}, refused: "cannot use ssh.user"},
		{name: "a port that is none", account: Account{Host: word("db1"), Port: word("0x16")}, refused: "cannot use ssh.port"},
		{name: "two jump hosts", account: Account{Host: word("db1"), Jump: word("a,b")}, refused: "cannot use ssh.jump"},
		{name: "no key file", account: Account{Host: word("db1"), KeyFile: word("absent")}, refused: "cannot use ssh.key-file: the file"},
		{name: "a folder of known hosts", account: Account{Host: word("db1"), KnownHosts: word(".")}, refused: "cannot use ssh.known-hosts"},
		{name: "in a container", account: Account{Host: word("db1")}, frame: confinement.Confinement{Image: "img"}, refused: "isolation: container"},
		{name: "reduced", account: Account{Host: word("db1")}, frame: confinement.Confinement{Reduced: true}, refused: "execution-privilege: reduced"},
		{name: "a permitted host", account: Account{Host: word("10.0.0.5")}, frame: enforced, grants: granted,
			want: sshcommand.Target{Host: "10.0.0.5", Port: "22", Address: "10.0.0.5", OwnOptions: true}},
		{name: "another port", account: Account{Host: word("10.0.0.5"), Port: word("23")}, frame: enforced, grants: granted, refused: "network:local:10.0.0.5:23"},
		{name: "another host", account: Account{Host: word("10.0.0.6")}, frame: enforced, grants: granted, refused: "network:local:10.0.0.6:22"},
		{name: "through a permitted host", account: Account{Host: word("10.0.0.5"), Jump: word("me@10.0.0.9:2222")}, frame: enforced, grants: granted,
			want: sshcommand.Target{Host: "10.0.0.5", Port: "22", Address: "10.0.0.5", Jump: "me@10.0.0.9:2222", JumpAddress: "10.0.0.9", OwnOptions: true}},
		{name: "through another port", account: Account{Host: word("10.0.0.5"), Jump: word("10.0.0.9")}, frame: enforced, grants: granted, refused: "cannot connect to 10.0.0.9"},
		{name: "a permitted jump host alone", account: Account{Host: word("10.0.0.6"), Jump: word("10.0.0.9:2222")}, frame: enforced, grants: granted, refused: "cannot connect to 10.0.0.6"},
		{name: "a host that a caller chose", account: Account{Host: word("10.0.0.6"), HostChosen: true}, grants: granted, refused: "network:local:10.0.0.6:22"},
		{name: "a permitted one that a caller chose", account: Account{Host: word("10.0.0.5"), HostChosen: true}, grants: granted,
			want: sshcommand.Target{Host: "10.0.0.5", Port: "22", Address: "10.0.0.5"}},
		{name: "a readable key", account: Account{Host: word("10.0.0.5"), KeyFile: word("id")}, frame: enforced, grants: granted,
			want: sshcommand.Target{Host: "10.0.0.5", Port: "22", Address: "10.0.0.5", KeyFile: filepath.Join(dir, "id"), OwnOptions: true}},
		{name: "a key that it may not read", account: Account{Host: word("10.0.0.5"), KeyFile: word("/etc/ssh/key")}, frame: enforced, grants: granted, refused: "filesystem:read:/etc/ssh/key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newConnection(&c.account, frame{c.frame, dir}, c.grants, t.TempDir())
			defer o.Close()
			got, err := o.Target(t.Context())
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%+v, %v, want one that says %q", got, err, c.refused)
				}
				return
			}
			if err != nil || *got != c.want {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

// The key that the client reads ends its lines as it needs them, and is gone with the connection. No message shows it.
func TestKey(t *testing.T) {
	const begin, end = "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"
	const key = begin + "\nc2VjcmV0IGtleQ\n" + end + "\n"
	for text, want := range map[string]string{
		key:                                   key,
		strings.TrimSuffix(key, "\n"):         key,
		strings.ReplaceAll(key, "\n", "\r\n"): key,
		"\n  " + key + "\n":                   key,
		"":                                    "",
		"/home/me/.ssh/id_ed25519":            "",
		"c2VjcmV0IGtleQ " + begin:             "",
	} {
		files := t.TempDir()
		o := newConnection(&Account{Host: expr.Literal("db1"), Key: expr.Literal(text)}, frame{}, nil, files)
		target, err := o.Target(t.Context())
		if want == "" {
			var refused place.InputError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "not the text of a private key") {
				t.Errorf("%q: %v", text, err)
			}
			o.Close()
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := os.ReadFile(target.KeyFile); string(got) != want || err != nil {
			t.Errorf("%q: the client reads %q, %v", text, got, err)
		}
		if shown := o.Mask.String("read c2VjcmV0IGtleQ"); strings.Contains(shown, "c2Vj") {
			t.Errorf("%q: shown as %q", text, shown)
		}
		o.Close()
		if left, err := os.ReadDir(files); len(left) > 0 || err != nil {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// Steps share a connection only if it can be made, and a client that cannot is started once only.
func TestSharedSocket(t *testing.T) {
	for name, folder := range map[string]func() (string, error){
		"no folder":       func() (string, error) { return "", errors.New("the disk is full") },
		"a long path":     func() (string, error) { return "/" + strings.Repeat("x", maxSocket), nil },
		"a path of signs": func() (string, error) { return "/tmp/50%", nil },
	} {
		t.Run(name, func(t *testing.T) {
			o := newConnection(&Account{}, frame{}, nil, t.TempDir())
			asked := 0
			o.Folder = func() (string, error) { asked++; return folder() }
			o.LookUp = func(string) (string, error) { t.Error("a client was to be started"); return "", errors.ErrUnsupported }
			target := sshcommand.Target{Host: "db1", Timeout: time.Second}
			for i, want := range []int{0, 1, 1, 1} { // the first step has a connection of its own
				if socket := o.socket(context.Background(), target); socket != "" || asked != want {
					t.Errorf("use %d: socket %q, %d folders asked for, want %d", i+1, socket, asked, want)
				}
			}
		})
	}
}

// Attempts whose files differ share a connection, and keys that differ do not.
func TestSharedAccounts(t *testing.T) {
	o := newConnection(&Account{}, frame{}, nil, t.TempDir())
	use := func(key, file, log string) {
		o.key = key
		o.socket(t.Context(), sshcommand.Target{Host: "db1", KeyFile: file, Log: log, Timeout: time.Second})
	}
	o.Folder = func() (string, error) { return "", errors.New("none") }
	use("digest", "/proc/1/fd/7", "log1")
	use("digest", "/proc/1/fd/8", "log2")
	if n := len(o.Shared.byAccount); n != 1 {
		t.Errorf("attempts with one key have %d connections", n)
	}
	use("other", "/proc/1/fd/7", "log1")
	use("", "/home/me/id", "log1")
	use("", "/home/me/id", "log2")
	if n := len(o.Shared.byAccount); n != 3 {
		t.Errorf("three accounts have %d connections", n)
	}
}

// A connection that failed says why in the words of the client, the last lines of them.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name, said string
		started    bool
		want       string
	}{
		{"nothing said", "", false, "cannot connect to the other machine"},
		{"the last lines", "one\r\ntwo\nthree\nfour\n", false, "cannot connect to the other machine: two; three; four"},
		{"an account", "me@db1: Permission denied (publickey).\n", false,
			"cannot connect to the other machine: me@db1: Permission denied (publickey).; set ssh.user and ssh.key or ssh.key-file to an account that accepts the key"},
		{"lost", "Timeout, server db1 not responding.\n", true,
			"the connection to the other machine was lost; the script was ended there: Timeout, server db1 not responding."},
	} {
		o := newConnection(&Account{}, frame{}, nil, t.TempDir())
		o.log = filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(o.log, []byte(c.said), 0o600); err != nil {
			t.Fatal(err)
		}
		o.trailer = sshcommand.NewTrailer(o.Mark, os.Stderr)
		if c.started {
			if _, err := o.trailer.Write([]byte(o.Mark + "+")); err != nil {
				t.Fatal(err)
			}
		}
		res := dag.Result{ExitCode: 1}
		o.Explain(&res)
		if res.Message != c.want || res.ExitCode != 255 || res.Reason != reasonConnection || res.Status != dag.Failed {
			t.Errorf("%s: %+v, want %q", c.name, res, c.want)
		}
		o.whole, res = true, dag.Result{ExitCode: 7}
		if o.Explain(&res); res.ExitCode != 7 || res.Reason != "" {
			t.Errorf("%s: the script has ended by itself, and the connection is blamed: %+v", c.name, res)
		}
	}
}

package sshcommand

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// run runs a job as sshd would, with a shell of this machine as the login shell.
func run(t *testing.T, j Job) (stdout, stderr string, r Report) {
	t.Helper()
	text := j.Stdin()
	c := exec.Command("sh", "-c", Command(len(text)))
	c.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "TMPDIR=" + t.TempDir()}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	trailer := NewTrailer(j.Mark, &errs)
	c.Stdout, c.Stderr = &out, trailer
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err, out.String(), errs.String())
	}
	if err := trailer.Close(); err != nil {
		t.Fatal(err)
	}
	r, ok := trailer.Report()
	if !ok || !trailer.Started() {
		t.Fatalf("no report: %q %q", errs.String(), trailer.rest)
	}
	return out.String(), errs.String(), r
}

func job(script string) Job {
	return Job{Mark: "mark-1", Shell: []string{"sh"}, Script: script, Grace: 5 * time.Second, Outputs: true, State: true}
}

func TestJob(t *testing.T) {
	all := make([]byte, 255)
	for i := range all {
		all[i] = byte(i + 1)
	}
	for name, v := range map[string]string{"bytes": string(all), "long": strings.Repeat("x'y\\\n", 120_000/5), "newlines": "\n\n\na\n\n\n", "code": "$(exit 9)`exit 9`", "dash": "-rf", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			for _, shell := range []string{"sh", "bash", "dash"} {
				j := job(`printf '%s' "$V"; cat >&2; printf 'A=1\n' >"$FLOWRUN_OUTPUT"; printf 'B=2\n' >"$FLOWRUN_STATE"; exit 255`)
				j.Shell, j.Values, j.Input = []string{shell}, []Variable{{"V", v}}, v
				out, errs, r := run(t, j)
				if out != v || errs != v {
					t.Errorf("%s: stdout %q, stderr %q", shell, short(out), short(errs))
				}
				if r.Code != 255 || string(r.Output) != "A=1\n" || string(r.State) != "B=2\n" {
					t.Errorf("%s: %+v", shell, r)
				}
			}
		})
	}
}

func short(s string) string { return s[:min(len(s), 200)] }

func TestExitCodes(t *testing.T) {
	for _, one := range []struct {
		script string
		code   int
	}{{"true", 0}, {"exit 1", 1}, {"exit 127", 127}, {"exit 254", 254}, {"exit 255", 255}, {"kill -9 $$", 137}, {"kill -TERM $$", 143}, {"no-such-program", 127}} {
		if _, _, r := run(t, job(one.script)); r.Code != one.code {
			t.Errorf("%s: %d, want %d", one.script, r.Code, one.code)
		}
	}
}

func TestValueFilesThatAreGone(t *testing.T) {
	for _, script := range []string{`rm "$FLOWRUN_OUTPUT"`, `rm "$FLOWRUN_OUTPUT"; mkfifo "$FLOWRUN_OUTPUT"`, `ln -sf /etc/passwd "$FLOWRUN_OUTPUT"`, `rm "$FLOWRUN_OUTPUT"; mkdir "$FLOWRUN_OUTPUT"`} {
		if _, _, r := run(t, job(script)); r.Output != nil || r.State == nil {
			t.Errorf("%s: %q %q", script, r.Output, r.State)
		}
	}
	for _, script := range []string{`echo v=1 >"$FLOWRUN_OUTPUT.x"; mv "$FLOWRUN_OUTPUT.x" "$FLOWRUN_OUTPUT"`, `rm "$FLOWRUN_OUTPUT"; echo v=1 >"$FLOWRUN_OUTPUT"`} {
		if _, _, r := run(t, job(script)); len(r.Output) > 0 {
			t.Errorf("%s: a file put in its place was read: %q", script, r.Output)
		}
	}
}

// TestBackground: what a script leaves in the background ends with it, also in a session of its own.
func TestBackground(t *testing.T) {
	began := time.Now()
	if _, _, r := run(t, job("sleep 600 & setsid sleep 600 & exit 3")); r.Code != 3 {
		t.Error(r.Code)
	}
	if took := time.Since(began); took > time.Minute {
		t.Error(took)
	}
}

func TestCutOffSupervisorDoesNothing(t *testing.T) {
	j := job("echo ran")
	text := j.Stdin()
	for _, n := range []int{0, 1, 10, len(text) / 4, len(text) / 2, len(text) - 20, len(text) - 12} {
		c := exec.Command("sh", "-c", Command(len(text)))
		c.Stdin = strings.NewReader(text[:n])
		if out, _ := c.CombinedOutput(); bytes.Contains(out, []byte("ran\n")) {
			t.Errorf("%d bytes: %q", n, out)
		}
	}
}

func TestTrailer(t *testing.T) {
	const stream = "ma mark+text mark\nmark-2 mark+b\nmark-1 7 3 2\nabcdeX"
	for size := 1; size <= len(stream); size++ {
		var b bytes.Buffer
		tr := NewTrailer("mark-1", &b)
		for rest := stream; rest != ""; rest = rest[min(size, len(rest)):] {
			if _, err := tr.Write([]byte(rest[:min(size, len(rest))])); err != nil {
				t.Fatal(err)
			}
		}
		r, ok := tr.Report()
		if b.String() != "ma mark+text mark\nmark-2 mark+b\n" || !ok || r.Code != 7 || string(r.Output) != "abc" || string(r.State) != "de" {
			t.Fatalf("size %d: %q %v %+v", size, b.String(), ok, r)
		}
	}
	for _, bad := range []string{"", "mark-1", "mark-1 7", "mark-1 7 1 1\na", "mark-1 x 0 0\n", "mark-1 256 0 0\n", "mark-1 -1 0 0\n", "mark-1 1 2\n", "mark-1 1 -1 0\n", "mark-1 1 99999999999 0\n"} {
		tr := NewTrailer("mark-1", &bytes.Buffer{})
		_, _ = tr.Write([]byte(bad))
		if r, ok := tr.Report(); ok {
			t.Errorf("%q: %+v", bad, r)
		}
	}
}

func FuzzTrailer(f *testing.F) {
	f.Add([]byte("text+mark+mark 0 1 1\nab"), 3)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		size = max(1, size%64)
		var whole, parts bytes.Buffer
		one, many := NewTrailer("mark", &whole), NewTrailer("mark", &parts)
		_, _ = one.Write(text)
		for rest := text; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			_, _ = many.Write(rest[:min(size, len(rest))])
		}
		if one.Close() != nil || many.Close() != nil || !bytes.Equal(whole.Bytes(), parts.Bytes()) || !bytes.Equal(one.rest, many.rest) || one.Started() != many.Started() {
			t.Errorf("%q %q", whole.Bytes(), parts.Bytes())
		}
		one.Report()
	})
}

func TestChecks(t *testing.T) {
	for _, one := range []struct {
		check func(string) error
		good  []string
		bad   []string
	}{
		{CheckHost, []string{"web1", "web-1.example.org", "10.0.0.1", "::1", "fe80::1%eth0", "my_alias"},
			[]string{"", "-oProxyCommand=x", "a b", "a\nb", "u@h", "h:22", "h;x", "$(x)", "[::1]", "a/b", strings.Repeat("a", 256)}},
		{CheckUser, []string{"root", "a.b-c_d", "joe@example.org"}, []string{"", "-l", "a b", "a;b", "a\n", "$x"}},
		{CheckPort, []string{"1", "22", "65535"}, []string{"", "0", "65536", "-1", "022", "+22", "x", "22 "}},
		{CheckJump, []string{"h", "u@h", "u@h:22", "[::1]:22", "::1"}, []string{"", "@h", "h:", "a,b", "u@", "-x", "u@-x", "h:x", "u@h:0", "$(x)"}},
		{CheckPath, []string{"/a/b c", "rel"}, []string{"/a%h", "/$HOME", `/a"b`, "/a'b", `/a\b`, "/a\nb"}},
	} {
		for _, s := range one.good {
			if err := one.check(s); err != nil {
				t.Error(err)
			}
		}
		for _, s := range one.bad {
			if err := one.check(s); err == nil {
				t.Errorf("%q is accepted", s)
			}
		}
	}
}

func TestArgv(t *testing.T) {
	target := Target{Host: "web1", User: "joe", Port: "2222", Jump: "ann@[::1]:22", KeyFile: "/k e", KnownHosts: "/known", Timeout: 1500 * time.Millisecond, OwnOptions: true, Log: "/log"}
	got := strings.Join(target.Argv("CMD"), " ")
	for _, want := range []string{" -F none ", " BatchMode=yes ", " StrictHostKeyChecking=yes ", " ConnectTimeout=2 ", ` UserKnownHostsFile="/known" `, " -i /k e ", " IdentitiesOnly=yes ",
		" -l joe -p 2222 ", "ProxyCommand=ssh ", `-l ann -p 22 -W '[%h]:%p' -- ::1`, " -- web1 CMD"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

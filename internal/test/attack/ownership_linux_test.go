package attack

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func (s *site) chmod(path string, mode os.FileMode) {
	s.Helper()
	if err := os.Chmod(path, mode); err != nil {
		s.Fatal(err)
	}
}

// give hands files of the site to another user.
func (s *site) give(uid int, paths ...string) {
	s.Helper()
	if os.Getuid() != 0 {
		s.Skip("only root can give files away")
	}
	for _, path := range paths {
		filepath.WalkDir(s.path(path), func(path string, _ os.DirEntry, _ error) error { return os.Lchown(path, uid, uid) })
	}
}

// TestFoldersOfOthers: tools and settings that another user put above the working
// directory, or may write, are not believed.
func TestFoldersOfOthers(t *testing.T) {
	const nobody = 65534
	for name, plant := range map[string]func(s *site){
		"another user's folder": func(s *site) { s.give(nobody, ".flowrun") },
		"another user's .cycod": func(s *site) { s.give(nobody, ".cycod") },
		"folder for everybody":  func(s *site) { s.chmod(s.path(".flowrun"), 0o777) },
		"a sticky one":          func(s *site) { s.chmod(s.path(".flowrun"), 0o777|os.ModeSticky) },
		"tools for everybody":   func(s *site) { s.chmod(s.path(".flowrun/tools"), 0o777) },
		"another user's tools":  func(s *site) { s.give(nobody, ".flowrun/tools") },
		"another user's file":   func(s *site) { s.give(nobody, ".flowrun/tools/summarise.yaml") },
		"a file for everybody":  func(s *site) { s.chmod(s.path(".flowrun/tools/summarise.yaml"), 0o666) },
		"a file for a group": func(s *site) {
			s.give(0, ".flowrun")
			os.Chown(s.path(".flowrun/tools/summarise.yaml"), 0, 100)
			s.chmod(s.path(".flowrun/tools/summarise.yaml"), 0o664)
		},
		"a link to another's":   func(s *site) { s.link(".flowrun/tools/summarise.yaml", nobody) },
		"a link to a folder":    func(s *site) { s.link(".flowrun/tools", nobody) },
		"the user's own folder": func(s *site) { s.moveTools("~/.config/flowrun/tools"); s.give(nobody, "~/.config/flowrun/tools") },
		"the user's old folder": func(s *site) { s.moveTools("~/.cycod/tools"); s.chmod(s.path("~/.cycod"), 0o777) },
		"a file of the user's": func(s *site) {
			s.moveTools("~/.config/flowrun/tools")
			s.chmod(s.path("~/.config/flowrun/tools/summarise.yaml"), 0o666)
		},
		"a name of another file": func(s *site) {
			os.Rename(s.path(".flowrun/tools/summarise.yaml"), s.path(".flowrun/tools/other.yaml"))
			s.give(nobody, ".flowrun/tools/other.yaml")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			folder := ".flowrun"
			if strings.Contains(name, ".cycod") {
				folder = ".cycod"
			}
			s.write(folder+"/tools/summarise.yaml", "name: summarise\ndescription: x\nbash: \": >"+s.path("PWN")+"\"\n")
			plant(s)
			out := s.run("run", "summarise")
			if s.exists("PWN") || out.code != 4 || strings.Count(out.stderr, "is ignored") != 1 {
				t.Errorf("the tool ran, or it was not reported once\n%s", out)
			}
			if !wide {
				return
			}
			if list := s.run("tool", "list", "--format", "simple"); strings.Contains(list.stdout, "summarise") {
				t.Errorf("it is listed\n%s", list)
			}
		})
	}
}

func (s *site) link(path string, uid int) {
	s.Helper()
	elsewhere := filepath.Join(s.dir, "elsewhere")
	os.Rename(s.path(path), elsewhere)
	if err := os.Symlink(elsewhere, s.path(path)); err != nil {
		s.Fatal(err)
	}
	s.give(uid, elsewhere)
}

func (s *site) moveTools(to string) {
	s.Helper()
	os.MkdirAll(filepath.Dir(s.path(to)), 0o755)
	if err := os.Rename(s.path(".flowrun/tools"), s.path(to)); err != nil {
		s.Fatal(err)
	}
}

// TestSettingsOfOthers: neither are their settings, in whichever file.
func TestSettingsOfOthers(t *testing.T) {
	for _, file := range []string{".flowrun/config.yaml", ".flowrun/settings.json", "~/.config/flowrun/config.yaml"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			text := "grace: 1h\n"
			if strings.HasSuffix(file, ".json") {
				text = `{"tools": {"discoveryCommand": "touch ` + s.path("PWN") + `"}}`
			}
			s.chmod(s.write(file, text), 0o666)
			out := s.run("config", "list")
			if strings.Contains(out.stdout, "1h") || strings.Contains(out.stdout, "touch") || !strings.Contains(out.stderr, "is ignored") {
				t.Errorf("they are believed\n%s", out)
			}
		})
	}
}

// TestFoldersThatCount: what people have, counts.
func TestFoldersThatCount(t *testing.T) {
	const uid = 1234
	for name, prepare := range map[string]func(s *site){
		"root's": func(s *site) { s.by(uid); s.give(0, ".flowrun") },
		"umask 002": func(s *site) {
			s.by(uid)
			s.chmod(s.path(".flowrun"), 0o775)
			s.chmod(s.path(".flowrun/tools"), 0o775)
			s.chmod(s.path(".flowrun/tools/it.yaml"), 0o664)
		},
		"below a sticky folder":     func(s *site) { s.by(uid); s.chmod(s.project, 0o777|os.ModeSticky) },
		"under sudo":                func(s *site) { s.give(uid, ".flowrun"); s.env = append(s.env, "SUDO_UID=1234") },
		"trusted, another user's":   func(s *site) { s.give(uid, ".flowrun"); s.run("trust") },
		"trusted, for everybody":    func(s *site) { s.chmod(s.path(".flowrun"), 0o777); s.run("trust") },
		"trusted, a file of others": func(s *site) { s.give(uid, ".flowrun/tools/it.yaml"); s.run("trust", s.project) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write(".flowrun/tools/it.yaml", "name: it\ndescription: x\nbash: echo works\n")
			prepare(s)
			if out := s.run("run", "it"); out.stdout != "works\n" || strings.Contains(out.stderr, "ignored") {
				t.Errorf("%s", out)
			}
		})
	}
}

// TestStateOfOthers: a state directory that another user owns or may write is refused,
// before anything is read from it or told to whoever listens there.
func TestStateOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		uid  int
		mode os.FileMode
	}{
		"another user's": {65534, 0o755}, "another's, for everybody": {65534, 0o777},
		"for everybody": {-1, 0o777}, "sticky": {-1, 0o777 | os.ModeSticky}, "for a group": {-1, 0o770},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			state := filepath.Join(s.dir, "state")
			s.write("it.yaml", "name: it\ndescription: x\nparameters: {S: {description: s}}\nbash: \": >PWN\"\n")
			told := s.listenAt(filepath.Join(state, "service.sock"))
			os.Lchown(filepath.Join(state, "service.sock"), c.uid, c.uid)
			if c.uid >= 0 {
				s.give(c.uid, state)
			}
			s.chmod(state, c.mode)
			commands := [][]string{{"run", "./it.yaml"}, {"run", "./it.yaml", "S=supersecretvalue", "--detach"}, {"runs"}, {"call", "./it.yaml", "{}", "--auto-approve", "*"}, {"trust"}, {"tool", "list"}, {"resume", "latest"}}
			if !wide && name != "for everybody" {
				commands = commands[:2]
			}
			for _, args := range commands {
				out := s.run(args...)
				if out.code == 0 || s.exists("PWN") || !strings.Contains(out.stderr+out.stdout, "state directory") {
					t.Errorf("%q: it is used\n%s", args, out)
				}
			}
			if text := told(); text != "" {
				t.Errorf("the other user read %q", text)
			}
			if out := s.run("doctor"); out.code != 1 || !strings.Contains(out.stdout, "state directory") {
				t.Errorf("doctor: %s", out)
			}
		})
	}
}

// listenAt listens at a socket, and answers with the given text.
func (s *site) listenAt(path string) (told func() string) {
	s.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		s.Fatal(err)
	}
	var mu sync.Mutex
	var all strings.Builder
	s.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				n, _ := c.Read(buf)
				mu.Lock()
				defer mu.Unlock()
				all.Write(buf[:n])
			}()
		}
	}()
	return func() string { mu.Lock(); defer mu.Unlock(); return all.String() }
}

// TestServiceOfOthers: whoever listens at the socket of a person's own state directory
// gets nothing unless it is that person's process, or root's.
func TestServiceOfOthers(t *testing.T) {
	s := newSite(t)
	s.write(".flowrun/tools/it.yaml", "name: it\ndescription: x\nparameters: {S: {description: s}}\nbash: echo\n")
	s.by(1234)
	state := filepath.Join(s.dir, "state")
	s.chmod(state, 0o777) // for the moment in which the other user can listen there
	var told func() string
	func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)) // of this thread alone
		defer syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), 0, ^uintptr(0))
		told = s.listenAt(filepath.Join(state, "service.sock"))
	}()
	s.chmod(filepath.Join(state, "service.sock"), 0o666)
	s.chmod(state, 0o700)
	out := s.run("run", "it", "S=supersecretvalue", "--detach")
	if text := told(); text != "" || !strings.Contains(out.stderr, "belongs to user 65534") {
		t.Errorf("the other user read %q\n%s", text, out)
	}
}

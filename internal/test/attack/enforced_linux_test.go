package attack

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

// fileEscapes are ways to a file that a tool's permissions do not list: $O/secret, which
// holds a canary, and $O/victim, which must not change. $GOT stands for what an escape that reads nothing gets. The tool may use the folders granted
// (read, write and execute) and seen (read). Loot goes to the file granted/NAME.
var fileEscapes = map[string]string{
	"plain":                  `cat $O/secret`,
	"parent":                 `cat ../outside/secret`,
	"through granted":        `cat granted/../../outside/secret`,
	"new link":               `ln -s $O/secret granted/l1; cat granted/l1`,
	"link of a folder":       `ln -s $O granted/l2; cat granted/l2/secret`,
	"link that was there":    `cat seen/link`,
	"hard link":              `ln $O/secret granted/l3; cat granted/l3`,
	"copy of links":          `cp -al $O granted/l4; cat granted/l4/secret`,
	"rename":                 `mv $O/secret granted/l5 && { cat granted/l5; mv granted/l5 $O/secret; }`,
	"rename of a folder":     `mv $O granted/l6 && { cat granted/l6/secret; mv granted/l6 $O; }`,
	"own root":               `cat /proc/self/root$O/secret`,
	"own folder":             `cat /proc/self/cwd/../outside/secret`,
	"root of flowrun":        `cat /proc/$PPID/root$O/secret`,
	"root of init":           `cat /proc/1/root$O/secret`,
	"folder of another":      `cat /proc/$OTHER/cwd/secret`,
	"files of another":       `cat /proc/$OTHER/fd/9`,
	"files of flowrun":       `cat /proc/$PPID/fd/*`,
	"own files":              `for f in /proc/self/fd/*; do [ -f $f ] && cat $f; done; cat <&9`,
	"changed folder":         `cd $O && cat secret`,
	"redirection":            `cat <$O/secret`,
	"descriptor":             `exec 3<$O/secret; cat <&3`,
	"archive":                `tar -cf - -C $O secret`,
	"as a script":            `bash $O/secret 2>&1; . $O/secret 2>&1`,
	"as an interpreter":      `printf '#!%s\n' $O/secret >granted/i; chmod +x granted/i; granted/i 2>&1`,
	"loader":                 `$(ls /lib64/ld-linux-*.so* /lib/ld-linux-*.so* 2>/dev/null | head -1) /bin/cat $O/secret`,
	"own program":            `cp /bin/cat granted/cat; granted/cat $O/secret`,
	"list":                   `ls -la $O; find $O; echo $O/*`,
	"later":                  `exec 8>granted/lock; flock 8; (setsid sh -c "sleep 0.1; cat $O/secret >>granted/later" >/dev/null 2>&1 &)`,
	"no environment":         `env -i setsid cat $O/secret`,
	"user namespace":         `unshare -r cat $O/secret; unshare -rm cat $O/secret`,
	"bind mount":             `mkdir granted/m; mount --bind $O granted/m && cat granted/m/secret; umount granted/m`,
	"overlay":                `mkdir granted/u granted/w granted/v; mount -t overlay -o lowerdir=$O,upperdir=granted/u,workdir=granted/w x granted/v && cat granted/v/secret; umount granted/v`,
	"chroot":                 `chroot $O /secret 2>&1; chroot / cat $O/secret`,
	"other user":             `su -s /bin/sh nobody -c "cat $O/secret"; setpriv --reuid=1 cat $O/secret`,
	"device":                 `for d in /dev/mem /dev/kmem /proc/kcore /dev/sda /dev/vda; do head -c 1 $d >/dev/null && echo $GOT; done; mknod granted/d b 8 0 && head -c 1 granted/d && echo $GOT`,
	"path only":              `perl -e 'use Fcntl; sysopen(F, "$ENV{O}/secret", 010000000) or exit; open(G, "</proc/self/fd/" . fileno(F)) or exit; print <G>'`,
	"socket in a folder":     `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) or exit; connect(S, sockaddr_un("granted/sock")) or exit; print <S>'`,
	"abstract socket":        `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) or exit; connect(S, pack("Sa*", 1, "\0$ENV{ABSTRACT}")) or exit; print <S>'`,
	"loopback":               `exec 3<>/dev/tcp/127.0.0.1/$PORT && cat <&3`,
	"environment of flowrun": `tr '\0' '\n' </proc/$PPID/environ | grep INHERITED; tr '\0' '\n' </proc/$OTHER/environ`,
	"inherited variable":     `printenv INHERITED; tr '\0' '\n' </proc/self/environ | grep INHERITED`,
	"process table":          `ps axeww | grep '[s]leep 300'`,
	"preloaded":              `printenv LD_PRELOAD BASH_ENV NODE_OPTIONS PYTHONPATH PERL5OPT GIT_SSH_COMMAND`,
	"login shell":            `bash -lc 'printenv INHERITED'; bash -ic 'printenv INHERITED'`,

	"overwrite":                         `echo x >$O/victim`,
	"append":                            `echo x >>$O/victim`,
	"append to seen":                    `echo x >>seen/file`,
	"truncate":                          `truncate -s 0 $O/victim`,
	"delete":                            `rm -f $O/victim`,
	"replace":                           `echo x >granted/r1; mv -f granted/r1 $O/victim`,
	"replace by link":                   `ln -sf /dev/null $O/victim`,
	"edit":                              `sed -i s/v/x/ $O/victim`,
	"write through link":                `ln -s $O/victim granted/l7; echo x >granted/l7`,
	"write through link that was there": `echo x >seen/out`,
	"new file":                          `touch $O/new`,
	"new folder":                        `mkdir $O/new`,
	"new pipe":                          `mkfifo $O/new`,
	"new socket":                        `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("$ENV{O}/new"))'`,
	"new link outside":                  `ln -s x $O/new; ln granted/keep $O/new`,
	"move out":                          `touch granted/r2; mv granted/r2 $O/new`,
	"file without a name":               `perl -e 'use Fcntl; sysopen(F, $ENV{O}, 020200001) or exit; syswrite(F, "x"); system("ln", "-L", "/proc/$$/fd/" . fileno(F), "$ENV{O}/new")'`,
	"exchange":                          `mv --exchange granted/keep $O/victim`,
	"database of a project":             `git -C $O init -q`,
	"extract":                           `echo x >granted/victim; tar -cf granted/t.tar -C granted victim; tar -xf granted/t.tar -C $O`,
	"kernel settings":                   `cat /proc/sys/kernel/hostname >/proc/sys/kernel/hostname && echo $GOT`,
	"own cgroup":                        `for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do echo $$ >$f && echo $GOT; done`,
	"scheduled":                         `echo '* * * * * root cat' >/etc/cron.d/flowrun-attack && echo $GOT; rm -f /etc/cron.d/flowrun-attack`,
	"start-up file":                     `echo >>$HOME/.bashrc && echo $GOT`,
	"kill":                              `kill -9 $OTHER && echo $GOT`,
	"signal flowrun":                    `[ $PPID -gt 1 ] && kill -0 $PPID && echo $GOT`,
	"limits of another":                 `prlimit --pid $OTHER --nofile=1:1 && echo $GOT`,
	"debugger":                          `gdb -p $OTHER -batch 2>&1 | grep -q attached && echo $GOT; timeout 5 strace -p $OTHER 2>&1 | grep -q attached && echo $GOT; head -c 1 /proc/$OTHER/mem && echo $GOT; true`,
}

// prey is what the escapes are after: a folder outside, and a process of the same user.
type prey struct {
	*site
	outside, canary string
	process         *exec.Cmd
}

// newPrey makes a project with a tool of the escapes. uid is who runs it; the process and all
// files are that user's too.
func newPrey(t *testing.T, uid uint32) *prey {
	p := &prey{site: newSite(t), canary: "canary-of-the-secret"}
	p.outside = filepath.Join(p.dir, "outside")
	p.write("granted/keep", "kept\n")
	p.write("seen/file", "seen\n")
	p.write("~.bashrc", "")
	p.write(filepath.Join(p.outside, "secret"), p.canary+"\n")
	p.write(filepath.Join(p.outside, p.canary), "")
	p.write(filepath.Join(p.outside, "victim"), "victim\n")
	os.Symlink("../../outside/secret", p.path("seen/link"))
	os.Symlink("../../outside/victim", p.path("seen/out"))
	if uid != 0 {
		p.by(uid)
	}
	p.process = exec.Command("bash", "-c", "exec 9<secret; exec sleep 300")
	p.process.Dir, p.process.Env = p.outside, append(p.env, "INHERITED="+p.canary)
	p.process.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.process.Process.Kill(); p.process.Wait() })
	p.env = append(p.env, "INHERITED="+p.canary, "PYTHONPATH=/"+p.canary, "PERL5OPT=-C0", "GIT_SSH_COMMAND="+p.canary, "FLOWRUN_PROGRESS=quiet")
	return p
}

// serve sends the canary to whoever connects.
func (p *prey) serve(network, address string) net.Addr {
	p.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(c, p.canary)
			c.Close()
		}
	}()
	return l.Addr()
}

// state describes what must not change.
func (p *prey) state() string {
	names := []string{}
	filepath.WalkDir(p.outside, func(path string, _ os.DirEntry, _ error) error {
		names = append(names, path)
		return nil
	})
	return fmt.Sprintf("%s %s %s %s %q", names, p.read(filepath.Join(p.outside, "secret")), p.read(filepath.Join(p.outside, "victim")), p.read("seen/file"), p.read("~.bashrc"))
}

// alive reports whether the process still runs.
func (p *prey) alive() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.process.Process.Pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestEnforcedFiles: an enforced tool gets at no file, process or socket that its permissions do not
// list, whoever runs it.
func TestEnforcedFiles(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	for by, start := range map[string]func(*site, ...string) outcome{"Landlock": (*site).run, "bubblewrap": (*site).runWithoutLandlock} {
		for _, uid := range users() {
			t.Run(fmt.Sprint(by, uid), func(t *testing.T) {
				t.Parallel()
				if by == "bubblewrap" {
					needtest.Programs(t, "bwrap")
				}
				p := newPrey(t, uid)
				abstract := fmt.Sprintf("flowrun-attack-%s-%d-%d", by, os.Getpid(), uid)
				p.serve("unix", "@"+abstract)
				p.serve("unix", p.path("granted/sock"))
				os.Chmod(p.path("granted/sock"), 0o777)
				port := p.serve("tcp", "127.0.0.1:0").(*net.TCPAddr).Port
				names := slices.Sorted(maps.Keys(fileEscapes))
				const enforced = "security:\n  enforce: true\n"
				text := "name: t\ndescription: x\n" + enforced + "  required-permissions: [filesystem:read:granted, filesystem:write:granted, filesystem:execute:granted, filesystem:read:seen]\n" +
					fmt.Sprintf("environment: {variables: {O: %q, GOT: it-escaped, OTHER: \"%d\", ABSTRACT: %q, PORT: \"%d\"}}\nsteps:\n", p.outside, p.process.Process.Pid, abstract, port)
				for i, name := range names {
					text += fmt.Sprintf("  - name: s%d\n    continue-on-error: true\n    parallel: true\n    bash: |\n      exec >'granted/%s'\n      %s\n", i, name, fileEscapes[name])
				}
				text += "  - {name: end, bash: flock granted/lock true}\n" // of what an escape left in the background
				p.write("t.yaml", text)
				before := p.state()
				if out := start(p.site, "run", "./t.yaml"); out.code != 0 {
					t.Fatal(out)
				}
				for _, name := range names {
					if loot := p.read("granted/" + name); strings.Contains(loot, p.canary) || strings.Contains(loot, "it-escaped") {
						t.Errorf("%s: got %q", name, loot)
					}
				}
				if after := p.state(); after != before {
					t.Errorf("changed from\n%s to\n%s", before, after)
				}
				if !p.alive() {
					t.Error("the process of another was ended")
				}
				if uid == 0 || by != "Landlock" {
					return // what follows is not for root
				}
				p.write("t.yaml", strings.NewReplacer(enforced, "security:\n", "    parallel: true\n", "").Replace(text))
				if out := p.run("run", "./t.yaml"); out.code != 0 {
					t.Fatal(out)
				}
				succeeded := 0
				for _, name := range names {
					if loot := p.read("granted/" + name); strings.Contains(loot, p.canary) || strings.Contains(loot, "it-escaped") {
						succeeded++
					}
				}
				if succeeded < 25 || p.alive() || p.state() == before {
					t.Errorf("without enforcement only %d escapes succeed (%s)", succeeded, p.state())
				}
			})
		}
	}
}

// enforcedLimits are what an enforced step can still do, as docs/reference/isolation.md says. Each prints
// "done".
var enforcedLimits = map[string]string{
	"changes the mode of a file of its user": `chmod 600 $O/victim && echo done`,
	"changes the times of such a file":       `touch -c -d @0 $O/victim && [ $(stat -c %Y $O/victim) = 0 ] && echo done`,
	"sees that a file exists, and its size":  `[ -e $O/victim ] && [ $(stat -c %s $O/victim) = 7 ] && echo done`,
	"reads a link":                           `[ $(readlink seen/link) = ../../outside/secret ] && echo done`,
	"sees command lines of other processes":  `tr '\0' ' ' </proc/$OTHER/cmdline | grep -q 'sleep 300' && echo done`,
	"runs what it can read, by the loader":   `cp /bin/echo granted/echo && chmod -x granted/echo && $(ls /lib64/ld-linux-*.so* /lib/ld-linux-*.so* 2>/dev/null | head -1) granted/echo done`,
}

// TestEnforcedLimits: what docs/reference/isolation.md says that enforced permissions do not prevent.
func TestEnforcedLimits(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	p := newPrey(t, uint32(os.Getuid()))
	names := slices.Sorted(maps.Keys(enforcedLimits))
	text := "name: t\ndescription: x\nsecurity: {enforce: true, required-permissions: [filesystem:read:granted, filesystem:write:granted]}\n" +
		fmt.Sprintf("environment: {variables: {O: %q, OTHER: \"%d\"}}\nsteps:\n", p.outside, p.process.Process.Pid)
	for i, name := range names {
		text += fmt.Sprintf("  - name: s%d\n    continue-on-error: true\n    bash: |\n      exec >'granted/%s'\n      %s\n", i, name, enforcedLimits[name])
	}
	p.write("t.yaml", text)
	out := p.run("run", "./t.yaml")
	for _, name := range names {
		if p.read("granted/"+name) != "done" {
			t.Errorf("it no longer %s: correct docs/reference/isolation.md\n%s", name, out)
		}
	}
}

// TestEnforcedServices: with the permission network:local, the Unix sockets of the machine are open
// to a step.
func TestEnforcedServices(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	p := newPrey(t, uint32(os.Getuid()))
	p.serve("unix", p.path("granted/sock"))
	for permission, want := range map[string]string{"network:local": p.canary, "model": ""} {
		p.write("t.yaml", "name: t\ndescription: x\nsecurity: {enforce: true, required-permissions: ["+permission+"]}\n"+
			`bash: perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) or exit; connect(S, sockaddr_un("granted/sock")) or exit; print <S>'`+"\n")
		if out := p.run("run", "./t.yaml", "--allow-unenforced"); strings.TrimSpace(out.stdout) != want {
			t.Errorf("%s: %s", permission, out)
		}
	}
}

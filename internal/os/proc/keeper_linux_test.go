package proc

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// asKept in the environment makes the test program start the processes of a step as a program with a
// keeper does: "FOLDER NOLEAF EARLY SECONDS". EARLY is that it asks for the keeper. It closes its
// Group when its stdin ends.
const asKept = "PROC_TEST_KEPT"

func beKept(words string) {
	var dir, seconds string
	var noLeaf, early bool
	if _, err := fmt.Sscan(words, &dir, &noLeaf, &early, &seconds); err != nil {
		panic(err)
	}
	if err := BecomeReaper(); err != nil {
		panic(err)
	}
	domain := procid.DomainOf(dir)
	release := func() {}
	if early {
		release = Keep(domain)
	}
	g := Open(procid.Mark("kept", 1), domain)
	g.withoutLeaf = noLeaf
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	sleep := "sleep " + seconds
	script := sleep + " & setsid " + sleep + " & (env -i setsid sh -c 'trap \"\" TERM; " + sleep + " & " + sleep + "' &); " + sleep
	if _, err := g.Start(Spec{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")},
		Files: [3]*os.File{null, null, null}}); err != nil {
		panic(err)
	}
	fmt.Println("started")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	g.Close(context.Background(), 0)
	release()
	os.Exit(0)
}

// TestKeeper: when a program is killed, all processes of its steps end, without another program of
// the domain, and then its keeper ends. A program that ends by itself leaves no keeper.
func TestKeeper(t *testing.T) {
	for i, c := range []struct {
		what          string
		noLeaf, early bool
		closed        bool
	}{
		{"a short program that lasts", false, false, false},
		{"without a leaf", true, false, false},
		{"a worker", true, true, false},
		{"closed", true, true, true},
		{"closed, a short program that lasts", false, false, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			tag := fmt.Sprintf("86%d%d", i, os.Getpid())
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %t %t 300.%s", asKept, t.TempDir(), c.noLeaf, c.early, tag))
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				cmd.Process.Kill()
				exec.Command("pkill", "-KILL", "-f", "sleep 300."+tag).Run()
			})
			keeper := fmt.Sprintf("%s\x00%d.", keeperName, cmd.Process.Pid)
			awaitAsleep(t, "300."+tag, 5)
			waittest.Until(t, "the keeper", func() bool { return len(living(keeper)) == 1 })
			if c.closed {
				in.Close()
			} else {
				cmd.Process.Kill()
			}
			cmd.Wait() // the error is that it was killed
			if c.closed {
				if left := living(keeper); len(left) > 0 {
					t.Errorf("a program that has ended leaves %v", left)
				}
				return
			}
			began := time.Now()
			waittest.Until(t, "the end of the step", func() bool { return len(living("300."+tag)) == 0 }, func() any { return living("300." + tag) })
			t.Logf("all processes have ended after %v", time.Since(began))
			waittest.Until(t, "the end of the keeper", func() bool { return len(living(keeper)) == 0 })
		})
	}
}

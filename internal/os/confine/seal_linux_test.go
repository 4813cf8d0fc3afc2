package confine

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asSealed in the environment makes the test program forget variables and print its environment, as
// /proc shows it and as it knows it.
const asSealed = "PROC_TEST_SEALED"

func TestMain(m *testing.M) {
	sealed()
	os.Exit(m.Run())
}

func sealed() {
	if os.Getenv(asSealed) == "" {
		return
	}
	err := ForgetEnv("TOKEN", "EMPTY", "NONE")
	text, _ := os.ReadFile("/proc/self/environ")
	os.Stdout.WriteString(strings.Join(strings.FieldsFunc(string(text), func(r rune) bool { return r == 0 }), "\n"))
	os.Stdout.WriteString("\n---\n" + strings.Join(os.Environ(), "\n"))
	if err != nil {
		os.Stdout.WriteString(err.Error())
	}
	os.Exit(0)
}

func TestForgetEnv(t *testing.T) {
	c := exec.Command("/proc/self/exe", "an argument", "")
	c.Env = []string{"A=1", "TOKEN=secret", "TOKENS=kept", "EMPTY=", "X=TOKEN=kept", asSealed + "=1", "TOKEN=secret again"}
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "A=1\nTOKENS=kept\nX=TOKEN=kept\n" + asSealed + "=1"
	shown, known, _ := bytes.Cut(out, []byte("\n---\n"))
	if string(shown) != want || string(known) != want {
		t.Errorf("/proc shows\n%s\nand it knows\n%s", shown, known)
	}
}

// Inherited descriptors are not passed on.
func TestCloseFilesOnExec(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	path, args := Confinement{}.Wrap("/bin/ls", []string{"ls", "/proc/self/fd"})
	c := &exec.Cmd{Path: path, Args: args, ExtraFiles: []*os.File{w, w}}
	out, err := c.Output()
	if got := strings.Fields(string(out)); err != nil || strings.Join(got, " ") != "0 1 2 3" { // 3 is the directory itself
		t.Errorf("%v %v", got, err)
	}
}

package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The parts that all tests share. They are started once.
var (
	program string          // flowrun, built from this tree
	main    *service        // with the prepared history
	browser context.Context // of the browser; each test has contexts of its own in it
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run prepares everything, runs the tests and cleans up.
func run(m *testing.M) int {
	path, err := findBrowser()
	if err != nil {
		if os.Getenv("CI") == "true" {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("skipped:", err)
		return 0
	}
	dir, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer removeAll(dir)
	end, err := prepare(dir, path)
	defer end()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot prepare the tests:", err)
		return 1
	}
	return m.Run()
}

// prepare builds flowrun, starts a service and fills its history, and starts the browser.
func prepare(dir, browserPath string) (end func(), err error) {
	var ends []func()
	end = func() {
		for _, f := range ends {
			defer f()
		}
	}
	program = filepath.Join(dir, "flowrun")
	build := exec.Command("go", "build", "-o", program, "./cmd/flowrun")
	build.Dir = filepath.Join("..", "..", "..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return end, fmt.Errorf("cannot build flowrun: %w\n%s", err, out)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browserPath), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("hide-scrollbars", true))...)
	ends = append(ends, stop)
	browser, stop = chromedp.NewContext(alloc)
	ends = append(ends, stop)
	if err := chromedp.Do(browser); err != nil {
		return end, fmt.Errorf("cannot start the browser: %w", err)
	}
	if main, err = startService(filepath.Join(dir, "main"), "tools"); err != nil {
		return end, err
	}
	ends = append(ends, main.stop)
	return end, main.fill()
}

// findBrowser returns the path of a browser.
func findBrowser() (string, error) {
	if path := os.Getenv("FLOWRUN_E2E_BROWSER"); path != "" {
		return exec.LookPath(path)
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no browser: install Chromium, or set FLOWRUN_E2E_BROWSER")
}

// removeAll removes a folder into which processes may write for a moment longer.
func removeAll(dir string) {
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

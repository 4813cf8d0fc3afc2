package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestScreenshots writes a picture of every page in both themes, and at the widths of a tablet, half a screen and a phone.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("FLOWRUN_SCREENSHOTS")
	if dir == "" {
		t.Skip("FLOWRUN_SCREENSHOTS is not set")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		name, theme   string
		width, height int64
	}{{"light", "light", 1440, 900}, {"dark", "dark", 1440, 900}, {"tablet", "light", 800, 1000}, {"half", "dark", 1100, 900}, {"phone", "light", 360, 780}} {
		b := open(t, main)
		b.expect("404")
		b.theme(look.theme)
		b.do(chromedp.EmulateViewport(look.width, look.height))
		shot := func(name string) {
			picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name+"-"+look.name+".png"), picture, 0o644)
			}
			if err != nil {
				t.Error(err)
			}
		}
		for name, path := range pages() {
			b.goTo(path)
			b.settled()
			shot(name)
		}
		signedOut := newTab(t, main)
		signedOut.theme(look.theme)
		signedOut.do(chromedp.EmulateViewport(look.width, look.height))
		signedOut.goTo("/login")
		b = signedOut
		shot("login")
	}
}

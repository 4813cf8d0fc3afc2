package config_test

import (
	"runtime"
	"testing"

	"github.com/flowrun/flowrun/internal/service/config"
)

// A project can make security.enforce stricter, but not weaker, whether it is trusted or not.
func TestEnforcement(t *testing.T) {
	own := "models"
	if runtime.GOOS != "linux" {
		own = "never"
	}
	for _, c := range []struct{ system, user, project, variable, want string }{
		{"", "", "", "", own},
		{"", "", "always", "", "always"},
		{"", "always", "models", "", "always"},
		{"", "always", "never", "", "always"},
		{"", "never", "models", "", "models"},
		{"", "never", "never", "", "never"},
		{"always", "never", "", "", "never"},
		{"always", "", "never", "", "always"},
		{"", "always", "", "never", "never"},
	} {
		for _, trusted := range []bool{false, true} {
			p := newPlace(t, nil)
			for name, value := range map[string]string{"etc/config.yaml": c.system, "home/.config/flowrun/config.yaml": c.user, "project/.flowrun/config.yaml": c.project} {
				if value != "" {
					p.write(name, "security: {enforce: "+value+"}\n")
				}
			}
			if c.variable != "" {
				p.env["FLOWRUN_SECURITY_ENFORCE"] = c.variable
			}
			got, err := p.with(config.Options{TrustProject: trusted})
			if err != nil {
				t.Fatal(err)
			}
			if got.Enforcement() != c.want {
				t.Errorf("%+v, trusted %v: %q", c, trusted, got.Enforcement())
			}
		}
	}
}

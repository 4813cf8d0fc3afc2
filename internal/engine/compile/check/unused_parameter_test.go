package check

import "testing"

func TestOnlyKeys(t *testing.T) {
	for source, want := range map[string]bool{
		"parameters:\n  NAME: {type: string}\nbash: x\n":                 false,
		"parameters: {NAME: {type: string}}\ntests: [{NAME: x}]\n":       false,
		"parameters:\n  \"NAME\": {type: string}\n  'NAME':\n":           false,
		"parameters:\n  NAME:\nbash: echo {NAME}\n":                      true,
		"parameters:\n  NAME:\nbash: echo {NAME:trim}\n":                 true,
		"parameters:\n  NAME:\nbash: echo {RAW:NAME}\n":                  true,
		"parameters:\n  NAME:\njs: return params.NAME\n":                 true,
		"parameters:\n  NAME:\nbash: echo $NAME\n":                       true,
		"parameters:\n  NAME:\nbash: \"{OTHER ? NAME : ''}\"\n":          true,
		"parameters:\n  NAME:\n  NAMES:\nbash: echo {NAMES} {MY_NAME}\n": false,
		"parameters:\n  NAME:\nenvironment: {secrets: [NAME]}\n":         true,
		"with: {OTHER: NAME}":                                            true,
		"parameters:\n  NAME:":                                           false,
		"parameters:\n  \"N\\u0041ME\": {}\n":                            true,
	} {
		if got := !onlyKeys(source)["NAME"]; got != want {
			t.Errorf("%q: %t", source, got)
		}
	}
}

package mcpclient_test

import (
	"flag"
	"os"
	"testing"
)

// serverVariable makes the test program a server of the tests. Its value is the kind of server.
const serverVariable = "FLOWRUN_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverVariable); kind != "" {
		runServer(kind)
		os.Exit(0)
	}
	flag.Set("test.parallel", "8") // many tests only wait; the command line may say otherwise
	os.Exit(m.Run())
}

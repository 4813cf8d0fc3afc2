package mcpclient_test

import (
	"os"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// serverVariable makes the test program a server of the tests. Its value is the kind of server.
const serverVariable = "FLOWRUN_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverVariable); kind != "" {
		runServer(kind)
		os.Exit(0)
	}
	sizetest.SideBySide()
	os.Exit(m.Run())
}

package ui

import (
	"github.com/flowrun/flowrun/internal/model/builtin"
	"github.com/flowrun/flowrun/internal/service/config"
)

// toolSettings copies the settings of built-in tools from the section tools.
func toolSettings(to *builtin.Settings, c *config.Config) {
	for _, v := range c.Get("tools.webAllow") {
		to.WebAllow = append(to.WebAllow, v.Text())
	}
	to.SearchURL, to.SearchKeyEnv, to.SearchKeyHeader = c.Word("tools.searchUrl"), c.Word("tools.searchKeyEnv"), c.Word("tools.searchKeyHeader")
	to.AgentCommand = c.Word("tools.agentCommand")
}

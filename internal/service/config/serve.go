package config

// Served returns the patterns of the built-in and discovered tools that the service offers
// over the network.
func (c *Config) Served() (patterns []string) {
	for _, v := range c.Get("serve.tools") {
		if !v.Ignored {
			patterns = append(patterns, v.Text())
		}
	}
	return patterns
}

package hooks_test

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/hooks"
)

// benchTool returns a typical tool, number n.
func benchTool(n int) []byte {
	return fmt.Appendf(nil, `module.exports = {
  getMetadata() { return { id: 't%d', name: 'Tool', description: 'Does one thing.', version: '1.0.0', author: 'Somebody', tags: ['read'] } },
  getSchema() {
    return {
      parameters: { type: 'object', properties: {
        input: { type: 'string', description: 'what to work on', minLength: 1, pattern: '^[\\w]+$' },
        count: { type: 'number', description: 'how often', minimum: 1, maximum: 100, default: 10 },
        format: { type: 'string', enum: ['json', 'xml', 'text'], default: 'json' } }, required: ['input'] },
      environment: { type: 'object', properties: { API_KEY: { type: 'string', description: 'the key' } }, required: ['API_KEY'] }
    }
  },
  getBusinessErrors() { return [{ code: 'RATE_LIMIT', match: /rate limit/i, solution: 'wait', retryable: true }] },
  async execute(params) { return params }
}
`, n)
}

// BenchmarkList200 reads 200 tools as a listing does, first without and then with the cache. The
// targets are 500 ms and 30 ms on an idle machine.
func BenchmarkList200(b *testing.B) {
	for _, kept := range []bool{false, true} {
		b.Run(map[bool]string{false: "cold", true: "cached"}[kept], func(b *testing.B) {
			dir := b.TempDir()
			list := func(cache string) {
				rt := hooks.New(hooks.Config{})
				defer rt.Close()
				load := hooks.Loader(hooks.LoaderConfig{Runtime: rt, Cache: cache})
				for i := range 200 {
					if _, bad := load(fmt.Sprintf("/tools/t%d.tool.js", i), benchTool(i)); len(bad) > 0 {
						b.Fatal(bad)
					}
				}
			}
			list(dir)
			for i := 0; b.Loop(); i++ {
				if kept {
					list(dir)
				} else {
					list(fmt.Sprintf("%s/%d", dir, i))
				}
			}
		})
	}
}

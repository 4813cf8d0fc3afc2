package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/npmtest"
)

// typedTool uses what the declarations know, and nothing that they do not.
const typedTool = `import type { ParametersOf, Tool } from '../types/tool'
import lodash from 'lodash'

const schema = {
  parameters: {
    type: 'object',
    properties: {
      text: { type: 'string' }, n: { type: 'integer', default: 1 }, flag: { type: ['boolean', 'null'] }, way: { enum: ['up', 'down'] },
      list: { type: 'array', items: { type: 'object', properties: { id: { const: 7 } }, required: ['id'] } }
    },
    required: ['text', 'list']
  }
} as const

type Params = ParametersOf<typeof schema>
const params: Params = { text: 'a', n: 1, list: [{ id: 7 }], way: 'up', flag: null }

const tool: Tool<typeof schema> = {
  getMetadata: () => ({ id: 'typed', tags: ['read'], permissions: ['network:external:example.com'] }),
  getSchema: () => schema,
  getBridges: () => ({ get: { real: async ({ url }) => (await fetch(url)).json() } }),
  async execute({ text, n, list, way = 'up', flag }) {
    const { logger, storage, environment } = this.api
    logger.info(text.toUpperCase(), { n: n.toFixed(), ids: list.map(one => one.id + 1), way: way.length, flag })
    storage.setItem('k', (storage.getItem('k') ?? 0) + storage.length)
    const { stdout } = await this.api.execute('git', ['log', 1], { cwd: '.', timeout: 5 })
    const answer = await this.api.askModel(stdout + environment.get('HOME'), { maxTokens: 5 })
    return [answer, await this.api.callTool('other', { text }), this.api.getInfo().runtime.name, lodash, Buffer.from(params.text), this.helper()]
  },
  helper: () => 1
}
export default tool
`

// wrongTool has an error in every line with a comment.
const wrongTool = `import type { Tool } from '../types/tool'
const schema = { parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } } as const
export default {
  getSchema: () => schema,
  execute({ n }) {
    n.trim() // n
    this.api.nothing() // api
    document.title // global
    this.api.storage.setItem(1, 2) // key
  }
} satisfies Tool<typeof schema>
`

// TestReadByCompiler: tsc, with the files that init writes, accepts the tools of the template and tools that use what
// there is, and finds what there is not.
func TestReadByCompiler(t *testing.T) {
	npm := npmtest.Install(t, "typescript@5.9.3")
	dir := t.TempDir()
	if _, err := Write(dir, "js", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(dir, toolsDir)
	var globals strings.Builder
	for _, name := range strings.Fields(globalNames) {
		fmt.Fprintf(&globals, "void typeof %s\n", name)
	}
	for file, text := range map[string]string{"typed.tool.ts": typedTool, "globals.tool.ts": globals.String() + "export {}\n"} {
		if err := os.WriteFile(filepath.Join(tools, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tsc := func() (string, error) {
		return npm.Node(filepath.Join(dir, ".flowrun"), npm.Program("typescript/bin/tsc"), "-p", ".")
	}
	if out, err := tsc(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(tools, "wrong.tool.ts"), []byte(wrongTool), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := tsc()
	for i, line := range strings.Split(wrongTool, "\n") {
		if found := regexp.MustCompile(fmt.Sprintf(`(?m)^tools/wrong\.tool\.ts\(%d,`, i+1)).MatchString(out); found != strings.Contains(line, "//") {
			t.Errorf("line %d, %s: found %v\n%s", i+1, line, found, out)
		}
	}
}

// globalNames are those that docs/reference/npm.md lists, and the language does not have.
const globalNames = `Buffer URL URLSearchParams TextEncoder TextDecoder structuredClone AbortController AbortSignal EventTarget Event fetch Headers Request
Response FormData Blob File ReadableStream WritableStream TransformStream crypto performance Intl WeakRef FinalizationRegistry atob btoa
setTimeout clearTimeout setInterval clearInterval setImmediate clearImmediate queueMicrotask console global self require importx loadModule importModule`

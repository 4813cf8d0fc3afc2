package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/npmtest"
)

// generatedClient starts a run with parameters, waits for the question of another one and answers it, all with types that
// were generated from the OpenAPI document.
const generatedClient = `import createClient from 'openapi-fetch'
import type { paths } from './api.js'

declare const process: { argv: string[] }
const [, , baseUrl, token] = process.argv
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { Authorization: 'Bearer ' + token } })

// after waits until the status of a run is another than these.
async function after(id: string, ...statuses: string[]) {
  for (;;) {
    const { data, error } = await client.GET('/api/v1/runs/{id}', { params: { path: { id } } })
    if (error) throw new Error(JSON.stringify(error))
    if (!['pending', 'running', ...statuses].includes(data.status)) return data
    await new Promise(done => setTimeout(done, 20))
  }
}

async function start(tool: string, params: Record<string, unknown>) {
  const { data, error } = await client.POST('/api/v1/runs', { body: { tool, params } })
  if (error) throw new Error(JSON.stringify(error))
  return data.id
}

const hello = await after(await start('hello', { WHO: 'Ada', N: 2 }))
const id = await start('asks', {})
const waiting = await after(id)
const { data: asked } = await client.GET('/api/v1/runs/{id}/questions', { params: { path: { id } } })
const { error } = await client.POST('/api/v1/runs/{id}/approve', { params: { path: { id } }, body: { step: asked!.questions[0]!.step, values: { VERSION: '1.2' } } })
const shipped = await after(id, 'waiting')
console.log([hello.status, hello.params?.['WHO'], waiting.status, JSON.stringify(error ?? null), shipped.status].join(' '))
`

// TestReadByGeneratedClient: a client that is generated from the OpenAPI document compiles, starts runs with parameters and
// answers a question.
func TestReadByGeneratedClient(t *testing.T) {
	npm := npmtest.Install(t, "typescript@5.9.3", "openapi-typescript@7.13.0", "openapi-fetch@0.17.0")
	b := newBench(t, web.Options{})
	dir := npm.Dir()
	for file, text := range map[string]string{"openapi.json": string(b.openAPI), "client.ts": generatedClient, "package.json": `{"type": "module"}`,
		"tsconfig.json": `{"compilerOptions": {"target": "es2022", "module": "nodenext", "lib": ["es2022", "dom"], "types": [], "strict": true, "noUncheckedIndexedAccess": true, "skipLibCheck": true}, "files": ["client.ts"]}`} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		program string
		args    []string
		want    string
	}{
		{npm.Program("openapi-typescript/bin/cli.js"), []string{"openapi.json", "-o", "api.ts"}, ""},
		{npm.Program("typescript/bin/tsc"), []string{"-p", "."}, ""},
		{"client.js", []string{b.server.URL, token}, "succeeded Ada waiting null succeeded\n"},
	} {
		out, err := npm.Node(dir, step.program, step.args...)
		if err != nil || step.want != "" && out != step.want {
			t.Fatalf("%s: %v\n%s", step.program, err, out)
		}
	}
}

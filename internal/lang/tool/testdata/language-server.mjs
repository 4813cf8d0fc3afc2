// Prints what the YAML language server says of definitions: {NAME: ["LINE: MESSAGE"]}. Its arguments are the schema, and a
// JSON file with the texts by name.
import { readFileSync } from 'node:fs'
import { getLanguageService } from 'yaml-language-server'
import { TextDocument } from 'vscode-languageserver-textdocument'

const [schema, texts] = process.argv.slice(2).map(file => readFileSync(file, 'utf8'))
const service = getLanguageService({
  schemaRequestService: () => Promise.resolve(schema), // a definition names the schema of its project
  workspaceContext: { resolveRelativePath: (path, base) => new URL(path, base).href }
})
service.configure({ validate: true, schemas: [{ uri: 'file:///tool.json', fileMatch: ['*.yaml'], schema: JSON.parse(schema) }] })
const said = {}
for (const [i, [name, text]] of Object.entries(JSON.parse(texts)).entries()) {
  // A number, because the server has no schema for names with .. in them.
  const found = await service.doValidation(TextDocument.create(`file:///${i}.yaml`, 'yaml', 1, text), false)
  said[name] = found.map(d => `${d.range.start.line + 1}: ${d.message}`)
}
console.log(JSON.stringify(said))

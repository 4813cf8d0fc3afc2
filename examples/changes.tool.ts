// Makes release notes from commit subjects of the form "kind: what", one per line.
// Try: git log --format=%s -20 >/tmp/try.txt; flowrun run ./changes.tool.ts subjects=@/tmp/try.txt
interface Change { kind: string, what: string, breaking: boolean }

const titles: Record<string, string> = { feat: 'New', fix: 'Fixed' }

export default class {
  getMetadata () {
    return { id: 'changes', name: 'Changes', description: 'Make release notes from commit subjects.', version: '1.0.0', tags: ['read'] }
  }

  getSchema () {
    return { parameters: {
      type: 'object',
      properties: {
        subjects: { type: 'string', description: 'Commit subjects, one per line' },
        others: { type: 'boolean', description: 'Include other kinds', default: false }
      },
      required: ['subjects']
    } }
  }

  getBusinessErrors () {
    return [{ code: 'NO_CHANGES', match: 'no changes', solution: 'write subjects as feat: ... or fix: ..., or set others=true', retryable: false }]
  }

  execute ({ subjects, others }: { subjects: string, others: boolean }): string {
    const changes = subjects.split('\n').map(line => this.#read(line)).filter(c => c !== undefined)
    const kinds = new Set(changes.map(c => c.kind).filter(kind => others || kind in titles))
    if (kinds.size === 0) throw new Error('there are no changes to list')
    return [...kinds].sort().map(kind => {
      const lines = changes.filter(c => c.kind === kind).map(c => `- ${c.breaking ? 'BREAKING: ' : ''}${c.what}`)
      return `## ${titles[kind] ?? kind}\n${lines.join('\n')}`
    }).join('\n\n')
  }

  #read (line: string): Change | undefined {
    const found = /^(?<kind>\w+)(\([^)]*\))?(?<breaking>!?): (?<what>.+)$/.exec(line.trim())
    return found?.groups && { kind: found.groups.kind, what: found.groups.what, breaking: found.groups.breaking === '!' }
  }
}

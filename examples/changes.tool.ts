// Makes release notes of the subjects of commits: one line for each, kind: what.
// Try: git log --format=%s -20 >/tmp/try.txt; flowrun run ./changes.tool.ts subjects=@/tmp/try.txt
interface Change { kind: string, what: string, breaking: boolean }

const titles: Record<string, string> = { feat: 'New', fix: 'Mended' }

export default class {
  getMetadata () {
    return { id: 'changes', name: 'Changes', description: 'Makes release notes of the subjects of commits.', version: '1.0.0', tags: ['read'] }
  }

  getSchema () {
    return { parameters: {
      type: 'object',
      properties: {
        subjects: { type: 'string', description: 'Subjects of commits, a line each' },
        others: { type: 'boolean', description: 'Tell of other kinds, too', default: false }
      },
      required: ['subjects']
    } }
  }

  getBusinessErrors () {
    return [{ code: 'NO_CHANGES', match: 'no changes', solution: 'write subjects as feat: ... or fix: ..., or give others=true', retryable: false }]
  }

  execute ({ subjects, others }: { subjects: string, others: boolean }): string {
    const changes = subjects.split('\n').map(line => this.#read(line)).filter(c => c !== undefined)
    const kinds = new Set(changes.map(c => c.kind).filter(kind => others || kind in titles))
    if (kinds.size === 0) throw new Error('there are no changes to tell of')
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

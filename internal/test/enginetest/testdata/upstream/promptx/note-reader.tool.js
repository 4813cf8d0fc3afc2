/**
 * note-reader - reads notes; whatever is outside goes through bridges, which can be replaced in tests
 */
module.exports = {
  getMetadata() {
    return {
      id: 'note-reader',
      name: 'Note reader',
      description: 'Lists the notes of a folder with their titles',
      version: '1.0.0',
      permissions: ['filesystem:read:notes']
    };
  },

  getSchema() {
    return { parameters: { type: 'object', properties: { file: { type: 'string', description: 'Name of one note' } } } };
  },

  getBridges() {
    return {
      'fs:list': {
        real: async (args, api) => {
          const fs = await api.importx('fs');
          return (await fs.promises.readdir(args.dir)).sort();
        },
        mock: async () => ['a.md', 'b.md']
      },
      'fs:read': {
        real: async (args, api) => {
          api.logger.info(`[Bridge] reading ${args.path}`);
          const fs = await api.importx('fs');
          return await fs.promises.readFile(args.path, 'utf-8');
        },
        mock: async (args) => `# Mock of ${args.path}`
      }
    };
  },

  getMockArgs(op) {
    return { dir: 'notes', path: 'notes/a.md' };
  },

  getBridgeErrors() {
    return {
      'fs:read': [{ code: 'NOTE_NOT_FOUND', match: /ENOENT/, solution: 'List the notes first', retryable: false }]
    };
  },

  async execute({ file }) {
    const { api } = this;
    const files = file ? [file] : await api.bridge.execute('fs:list', { dir: 'notes' });
    const notes = [];
    for (const name of files) {
      const text = await api.bridge.execute('fs:read', { path: `notes/${name}` });
      notes.push({ name, title: text.split('\n')[0].replace(/^#\s*/, '') });
    }
    return notes;
  }
};

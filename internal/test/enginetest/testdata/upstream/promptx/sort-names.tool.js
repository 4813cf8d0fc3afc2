module.exports = {
  getMetadata() {
    return {
      id: 'sort-names', name: 'Sort names', description: 'Sorts names with the program sort', version: '1.0.0',
      permissions: ['filesystem:execute:sort']
    };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: { file: { type: 'string', description: 'File with one name a line' }, reverse: { type: 'boolean', description: 'From Z to A', default: false } },
        required: ['file']
      }
    };
  },

  async execute({ file, reverse }) {
    const { api } = this;
    const args = reverse ? ['-r', file] : [file];
    const result = await api.execute('sort', args, { timeout: 10000 });
    if (!result.success) {
      api.logger.error('sort failed', result);
      return { success: false, error: `sort failed with ${result.exitCode}` };
    }
    return { success: true, names: result.stdout.trim().split('\n') };
  }
};

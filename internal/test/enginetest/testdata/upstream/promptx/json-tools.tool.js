module.exports = {
  getMetadata() {
    return { id: 'json-tools', name: 'JSON tools', description: 'Formats, shortens and queries JSON', version: '1.2.0', tags: ['json'] };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['format', 'minify', 'get'], description: 'What to do' },
          json: { type: 'string', description: 'The document' },
          path: { type: 'string', description: 'Path for get, such as items[0].name' }
        },
        required: ['action', 'json']
      }
    };
  },

  getBusinessErrors() {
    return [
      { code: 'INVALID_JSON', description: 'Not JSON', match: /JSON/i, solution: 'Check the commas and quotes', retryable: false },
      { code: 'PATH_NOT_FOUND', description: 'No such path', match: 'not found', solution: 'Use action format to see the document', retryable: false }
    ];
  },

  get(value, path) {
    for (const part of path.replace(/\[(\d+)\]/g, '.$1').split('.').filter(Boolean)) {
      if (value === null || typeof value !== 'object' || !(part in value)) throw new Error(`path not found: ${path}`);
      value = value[part];
    }
    return value;
  },

  async execute({ action, json, path }) {
    const value = JSON.parse(json);
    switch (action) {
      case 'format': return JSON.stringify(value, null, 2);
      case 'minify': return JSON.stringify(value);
      case 'get': return this.get(value, path || '');
      default: throw new Error(`Unsupported action: ${action}`);
    }
  }
};

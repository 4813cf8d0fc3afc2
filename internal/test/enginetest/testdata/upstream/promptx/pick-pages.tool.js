module.exports = {
  getMetadata() {
    return { id: 'pick-pages', name: 'Pick pages', description: 'Cuts pages out of a text', version: '1.0.0' };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['count', 'read'], default: 'count', description: 'What to do' },
          text: { type: 'string', description: 'Pages, with --- between them' },
          pages: {
            oneOf: [{ type: 'number', minimum: 1 }, { type: 'array', items: { type: 'number', minimum: 1 } }],
            description: 'One page or several (read)'
          },
          options: {
            type: 'object',
            description: 'Options of the output',
            properties: { separator: { type: 'string', default: ' / ' }, trim: { type: 'boolean', default: true } },
            default: {}
          }
        },
        required: ['text'],
        allOf: [
          { if: { properties: { action: { const: 'read' } }, required: ['action'] }, then: { required: ['pages'] } }
        ]
      }
    };
  },

  async execute({ action, text, pages, options }) {
    const all = text.split('---').map(page => (options.trim ? page.trim() : page));
    if (action === 'count') return { pages: all.length };
    const wanted = Array.isArray(pages) ? pages : [pages];
    return wanted.map(n => {
      if (n > all.length) throw new RangeError(`page ${n} of ${all.length}`);
      return all[n - 1];
    }).join(options.separator);
  }
};

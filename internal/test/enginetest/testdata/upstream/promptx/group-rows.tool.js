module.exports = {
  getDependencies() {
    return { lodash: '^4.17.21' };
  },

  getMetadata() {
    return { id: 'group-rows', name: 'Group rows', description: 'Groups rows by a column', version: '1.0.0' };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          rows: { type: 'array', items: { type: 'object' }, description: 'The rows' },
          by: { type: 'string', description: 'The column' }
        },
        required: ['rows', 'by']
      }
    };
  },

  async execute({ rows, by }) {
    const { api } = this;
    const _ = await api.importx('lodash');
    return _.mapValues(_.groupBy(rows, by), group => group.length);
  }
};

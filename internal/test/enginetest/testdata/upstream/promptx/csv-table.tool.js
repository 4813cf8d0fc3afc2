// An ES module, with an import of a module of Node.js.
import path from 'path';

const cells = line => line.split(',').map(cell => cell.trim());

export default {
  getDependencies() {
    return {};
  },
  getMetadata() {
    return { id: 'csv-table', name: 'CSV table', description: 'Turns CSV into a Markdown table', version: '0.3.1', author: 'reports' };
  },
  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          csv: { type: 'string', description: 'Lines of CSV, the first one with the names' },
          file: { type: 'string', description: 'Where the lines are from', default: 'data/table.csv' }
        },
        required: ['csv']
      },
      environment: { type: 'object', properties: {}, required: [] }
    };
  },
  async execute(params) {
    const { api } = this;
    api?.logger?.info('start', { params: Object.keys(params) });
    try {
      const [head, ...rows] = params.csv.trim().split('\n').map(cells);
      if (rows.length === 0) throw new Error('no rows');
      const line = row => `| ${row.join(' | ')} |`;
      const table = [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
      return `**${path.basename(params.file, '.csv')}**\n\n${table}`;
    } catch (error) {
      api?.logger?.error('failed', { error: error.message, stack: error.stack });
      throw error;
    }
  }
};

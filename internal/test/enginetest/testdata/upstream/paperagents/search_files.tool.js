// Finds files by their names, as the predefined tool of PaperAgents does.
const fs = require('fs');

module.exports = {
  getMetadata: () => ({ id: 'search_files', description: 'Finds files by their names', permissions: ['filesystem:read:.'] }),
  getSchema: () => ({
    type: 'object',
    properties: { query: { type: 'string', description: 'Part of the name' }, path: { type: 'string', description: 'Folder to search in', default: '.' } },
    required: ['query']
  }),
  execute({ query, path }) {
    const walk = dir => fs.readdirSync(dir, { withFileTypes: true })
      .map(e => [e, dir === '.' ? e.name : `${dir}/${e.name}`])
      .flatMap(([e, file]) => e.isDirectory() ? walk(file) : [{ name: e.name, path: file, size: fs.statSync(file).size }]);
    return { results: walk(path).filter(f => f.name.includes(query)).sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }
};

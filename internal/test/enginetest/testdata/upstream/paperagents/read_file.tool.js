// Reads a file, as the predefined tool of PaperAgents does.
const fs = require('fs');

module.exports = {
  getMetadata: () => ({ id: 'read_file', description: 'Reads a file', permissions: ['filesystem:read:.'] }),
  getSchema: () => ({ type: 'object', properties: { filePath: { type: 'string', description: 'Path of the file' } }, required: ['filePath'] }),
  execute({ filePath }) {
    const content = fs.readFileSync(filePath, 'utf-8');
    return { filePath, content, size: content.length };
  }
};

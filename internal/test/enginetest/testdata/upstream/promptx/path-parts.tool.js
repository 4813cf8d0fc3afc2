module.exports = {
  getDependencies() { return {}; },

  getMetadata() {
    return { id: 'path-parts', name: 'Path parts', description: 'Takes a path apart', version: '1.0.0' };
  },

  getSchema() {
    return { parameters: { type: 'object', properties: { file: { type: 'string', description: 'A path' } }, required: ['file'] } };
  },

  relative(file) {
    const path = require('path');
    return path.relative('/srv/site', path.resolve('/srv/site', file));
  },

  async execute({ file }) {
    const { api } = this;
    const path = await api.importx('path');
    const { format } = await api.importx('util');
    return { dir: path.dirname(file), name: path.basename(file, path.extname(file)), ext: path.extname(file), relative: this.relative(file), text: format('%s is %d long', file, file.length) };
  }
};

module.exports = {
  getMetadata() {
    return { id: 'work-folder', name: 'Work folder', description: 'Shows where the tool keeps its files', version: '1.0.0' };
  },

  getSchema() {
    return { parameters: { type: 'object', properties: {} } };
  },

  async execute() {
    const { api } = this;
    const info = api.getInfo();
    const path = await api.importx('path');
    return {
      id: info.id,
      folder: path.basename(api.sandboxPath).replace(/@.*/, ''),
      same: info.sandbox === api.sandboxPath,
      runtime: Object.keys(info.runtime).sort().join(' ')
    };
  }
};

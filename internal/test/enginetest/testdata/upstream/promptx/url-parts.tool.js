// importx and loadModule are globals in PromptX.
module.exports = {
  getDependencies() { return {}; },

  getMetadata() {
    return { id: 'url-parts', name: 'URL parts', description: 'Takes an address apart', version: '1.0.0' };
  },

  getSchema() {
    return { parameters: { type: 'object', properties: { url: { type: 'string', format: 'uri', description: 'The address' } }, required: ['url'] } };
  },

  async execute({ url }) {
    const path = await importx('path');
    const querystring = await loadModule('querystring');
    const { hostname, pathname, search, hash } = new URL(url);
    return { hostname, file: path.posix.basename(pathname), query: querystring.parse(search.slice(1)), hash: hash.slice(1) };
  }
};

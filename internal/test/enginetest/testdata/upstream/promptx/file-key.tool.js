module.exports = {
  getMetadata() {
    return { id: 'file-key', name: 'File key', description: 'Makes the key under which a document is cached', version: '1.0.0' };
  },

  getSchema() {
    return { parameters: { type: 'object', properties: { text: { type: 'string', description: 'The document' } }, required: ['text'] } };
  },

  getBridges() {
    return {
      'crypto:hash': {
        real: async (args, api) => {
          const crypto = await api.importx('crypto');
          const hash = crypto.createHash(args.algorithm);
          hash.update(args.data);
          return hash.digest('hex');
        },
        mock: async () => 'mock-hash'
      }
    };
  },

  async execute({ text }) {
    const { api } = this;
    const data = Buffer.from(text);
    return {
      md5: await api.bridge.execute('crypto:hash', { algorithm: 'md5', data }),
      sha256: await api.bridge.execute('crypto:hash', { algorithm: 'sha256', data })
    };
  }
};

/**
 * text-stats - numbers about a text, for writers
 */
module.exports = {
  getDependencies() {
    return {};
  },

  getMetadata() {
    return {
      id: 'text-stats',
      name: 'Text statistics',
      description: 'Counts characters, words, sentences and reading time of a text',
      version: '1.0.0',
      category: 'utility',
      author: 'writers',
      tags: ['text', 'statistics', 'read'],
      scenarios: ['Check the length of an article'],
      limitations: ['Texts in Latin script only']
    };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          text: { type: 'string', description: 'The text', minLength: 1 },
          wordsPerMinute: { type: 'number', description: 'Reading speed', minimum: 50, maximum: 1000, default: 200 }
        },
        required: ['text']
      }
    };
  },

  async execute(params) {
    const { api } = this;
    const { text, wordsPerMinute } = params;
    api.logger.info('counting', { length: text.length });
    const words = text.split(/\s+/).filter(Boolean);
    return {
      success: true,
      characters: text.length,
      bytes: Buffer.byteLength(text, 'utf-8'),
      words: words.length,
      sentences: (text.match(/[.!?]+(\s|$)/g) || []).length,
      minutes: Math.ceil(words.length / wordsPerMinute)
    };
  }
};

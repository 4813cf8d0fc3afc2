// Counts words, and how often it was called.
// Try: flowrun run ./words.tool.js text="the cat and the hat"
module.exports = {
  getMetadata() {
    return { id: 'words', name: 'Word count', description: 'Count the words of a text', version: '1.0.0', tags: ['read'] };
  },
  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          text: { type: 'string', description: 'The text' },
          top: { type: 'integer', description: 'Number of words to show', minimum: 1, default: 3 }
        },
        required: ['text']
      }
    };
  },
  getBusinessErrors() {
    return [{ code: 'NO_WORDS', match: 'no words', solution: 'pass a text that contains words', retryable: false }];
  },
  async execute({ text, top }) {
    const counts = this.count(text);
    const { storage, logger } = this.api;
    storage.setItem('asked', (storage.getItem('asked') || 0) + 1);
    logger.info('counted', { words: counts.length });
    return { top: counts.slice(0, top), asked: storage.getItem('asked') };
  },
  count(text) {
    const words = text.toLowerCase().match(/[^\s.,;:!?]+/g);
    if (!words) throw new Error('there are no words in the text');
    const counts = new Map();
    for (const w of words) counts.set(w, (counts.get(w) || 0) + 1);
    return [...counts].map(([word, n]) => ({ word, n })).sort((a, b) => b.n - a.n || a.word.localeCompare(b.word));
  }
};

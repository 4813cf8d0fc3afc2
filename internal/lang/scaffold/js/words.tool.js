// A tool in JavaScript: what it is called, what it takes, what it does.
//
//   flowrun run words text='to be or not to be'

const schema = /** @type {const} */ ({
  parameters: {
    type: 'object',
    properties: {
      text: { type: 'string', description: 'The text', minLength: 1 },
      top: { type: 'integer', description: 'How many of the most frequent words', minimum: 1, default: 3 },
    },
    required: ['text'],
  },
});

// The type is for your editor, which then knows this.api and the parameters.
/** @type {import('../types/tool').Tool<typeof schema>} */
module.exports = {
  getMetadata() {
    return {
      id: 'words',
      name: 'Word counter',
      description: 'Counts the words of a text, and lists the most frequent ones',
      version: '1.0.0',
      tags: ['read'],
      // What the tool reaches stands here, and nothing else is allowed:
      // permissions: ['tool:NAME', 'network:external:HOST', 'filesystem:read:PATH'],
    };
  },

  getSchema: () => schema,

  // Errors that have a name and a way out.
  getBusinessErrors() {
    return [
      { code: 'NO_WORDS', description: 'The text holds no words', match: /no words/, solution: 'Give a text with letters in it', retryable: false },
    ];
  },

  async execute({ text, top }) {
    const { api } = this;
    const words = text.toLowerCase().match(/\p{L}+/gu);
    if (!words) throw new Error('there are no words in the text');

    const times = new Map();
    for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
    api.logger.info('counted', { words: words.length });

    return {
      words: words.length,
      distinct: times.size,
      top: [...times].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, top).map(([word, count]) => ({ word, count })),
    };
  },
};

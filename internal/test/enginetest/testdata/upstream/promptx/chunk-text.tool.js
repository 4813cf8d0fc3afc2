// Streams are read with for await, and made with async generators.
module.exports = {
  getMetadata() {
    return { id: 'chunk-text', name: 'Chunk text', description: 'Cuts a long text into pieces that a model can read', version: '1.0.0' };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          text: { type: 'string', description: 'The text' },
          size: { type: 'integer', description: 'Most characters of a piece', minimum: 10, default: 20 }
        },
        required: ['text']
      }
    };
  },

  async *pieces(text, size) {
    let piece = '';
    for (const word of text.split(/\s+/)) {
      if (piece && piece.length + 1 + word.length > size) {
        yield piece;
        piece = '';
      }
      piece = piece ? `${piece} ${word}` : word;
    }
    if (piece) yield piece;
  },

  async execute({ text, size }) {
    const { api } = this;
    const result = [];
    for await (const piece of this.pieces(text, size)) {
      api.logger.debug(`piece ${result.length + 1}`, { length: piece.length });
      result.push(piece);
    }
    return { success: true, count: result.length, pieces: result };
  }
};

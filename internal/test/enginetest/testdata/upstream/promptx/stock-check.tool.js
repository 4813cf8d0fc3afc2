module.exports = {
  getMetadata() {
    return { id: 'stock-check', name: 'Stock check', description: 'Checks an order against the stock', version: '1.0.0' };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          article: { type: 'string', description: 'Name of the article' },
          quantity: { type: 'integer', description: 'How many', minimum: 1, default: 1 }
        },
        required: ['article']
      }
    };
  },

  // By code, as several published tools have it.
  getBusinessErrors() {
    return {
      OUT_OF_STOCK: { description: 'Not enough left', match: /only \d+ left/, solution: 'Order less', retryable: false },
      UNKNOWN_ARTICLE: { description: 'No such article', match: 'unknown article', solution: 'Check the name', retryable: false }
    };
  },

  // A single entry for one bridge.
  getBridgeErrors() {
    return { 'stock:get': { code: 'STOCK_OFFLINE', match: /offline/, solution: 'Try later', retryable: true } };
  },

  getBridges() {
    return {
      'stock:get': {
        real: async ({ article }) => {
          if (article === 'anvil') throw new Error('the stock is offline');
          return { paper: 500, ink: 3 }[article];
        },
        mock: async () => 10
      }
    };
  },

  async execute({ article, quantity }) {
    const left = await this.api.bridge.execute('stock:get', { article });
    if (left === undefined) throw new Error(`unknown article ${article}`);
    if (left < quantity) throw new Error(`only ${left} left`);
    return { article, left: left - quantity };
  }
};

module.exports = {
  getDependencies() {
    return { axios: '^1.6.0' };
  },

  getMetadata() {
    return {
      id: 'exchange-rate', name: 'Exchange rate', description: 'Gets the rate of two currencies', version: '1.0.0',
      permissions: ['network:external:api.rates.example.com']
    };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          base: { type: 'string', pattern: '^[A-Z]{3}$', description: 'Currency' },
          target: { type: 'string', pattern: '^[A-Z]{3}$', description: 'Other currency', default: 'EUR' }
        },
        required: ['base']
      },
      environment: {
        type: 'object',
        properties: {
          RATES_API_KEY: { type: 'string', description: 'Key of the API' },
          RATES_TIMEOUT: { type: 'number', description: 'Limit in milliseconds', minimum: 1000, default: 30000 }
        },
        required: ['RATES_API_KEY']
      }
    };
  },

  getBridges() {
    return {
      'http:get': {
        real: async (args, api) => {
          const axios = await api.importx('axios');
          const { data } = await axios.get(args.url, { timeout: args.timeout });
          return data;
        },
        mock: async () => ({ rate: 0.92 })
      }
    };
  },

  getBusinessErrors() {
    return [
      { code: 'API_RATE_LIMIT', description: 'Too many calls', match: /rate limit|429/i, solution: 'Wait for 60 seconds', retryable: true },
      { code: 'NETWORK_ERROR', description: 'No connection', match: /ECONNREFUSED|ENOTFOUND/, solution: 'Check the connection', retryable: true }
    ];
  },

  async execute({ base, target }) {
    const { api } = this;
    const key = await api.environment.get('RATES_API_KEY');
    const timeout = parseInt(await api.environment.get('RATES_TIMEOUT')) || 30000;
    const data = await api.bridge.execute('http:get', { url: `https://api.rates.example.com/v1/${base}/${target}?key=${key}`, timeout });
    return { base, target, rate: data.rate };
  }
};

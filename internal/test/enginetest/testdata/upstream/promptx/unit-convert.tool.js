class UnitConverter {
  #factors = { m: 1, km: 1000, mi: 1609.344, ft: 0.3048 };

  getMetadata() {
    return { id: 'unit-convert', name: 'Unit converter', description: 'Converts lengths', version: '2.0.0' };
  }

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          value: { type: 'number', description: 'The length' },
          from: { type: 'string', enum: Object.keys(this.#factors), description: 'Unit of the length' },
          to: { type: 'string', enum: Object.keys(this.#factors), description: 'Unit of the result', default: 'm' }
        },
        required: ['value', 'from']
      }
    };
  }

  async init() {
    this.started = true;
  }

  async execute({ value, from, to }) {
    if (!this.started) throw new Error('not started');
    const result = (value * this.#factors[from]) / this.#factors[to];
    return { value, from, to, result: Math.round(result * 1000) / 1000 };
  }

  async cleanup() {
    this.started = false;
  }
}

module.exports = UnitConverter;

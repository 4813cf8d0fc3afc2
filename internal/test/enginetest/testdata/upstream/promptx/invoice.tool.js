module.exports = {
  getMetadata() {
    return { id: 'invoice', name: 'Invoice', description: 'Writes the lines of an invoice', version: '1.0.0' };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          items: {
            type: 'array',
            minItems: 1,
            description: 'What is charged',
            items: { type: 'object', properties: { name: { type: 'string' }, price: { type: 'number' } }, required: ['name', 'price'] }
          }
        },
        required: ['items']
      }
    };
  },

  async execute({ items }) {
    const money = n => n.toLocaleString('en-US', { style: 'currency', currency: 'USD' });
    const total = items.reduce((sum, item) => sum + item.price, 0);
    return [
      ...items.map(item => `${item.name.padEnd(10)} ${money(item.price)}`),
      `Total ${money(total)} (${(1234567.891).toLocaleString()} is a number)`
    ].join('\n');
  }
};

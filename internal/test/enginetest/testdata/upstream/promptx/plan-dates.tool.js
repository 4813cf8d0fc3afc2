module.exports = {
  getMetadata() {
    return { id: 'plan-dates', name: 'Plan dates', description: 'Calculates the dates of a series of meetings', version: '1.0.0' };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          start: { type: 'string', format: 'date', description: 'First day' },
          every: { type: 'integer', description: 'Days between two meetings', minimum: 1, default: 7 },
          count: { type: 'integer', description: 'Number of meetings', minimum: 1, maximum: 52, default: 3 },
          skip: { type: 'array', items: { type: 'string', format: 'date' }, description: 'Holidays', default: [] }
        },
        required: ['start']
      }
    };
  },

  async execute({ start, every, count, skip }) {
    const holidays = new Set(skip);
    const days = [];
    for (let i = 0; days.length < count; i++) {
      const day = new Date(Date.parse(start) + i * every * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
      if (!holidays.has(day)) days.push(day);
    }
    const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
    return days.map(day => `${names[new Date(day).getUTCDay()]} ${day}`).join('\n');
  }
};

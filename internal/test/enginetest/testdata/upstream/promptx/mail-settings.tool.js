module.exports = {
  getMetadata() {
    return { id: 'mail-settings', name: 'Mail settings', description: 'Keeps the settings of a mail server', version: '1.0.0' };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['configure', 'show'], description: 'What to do' },
          server: { type: 'string', format: 'hostname', description: 'Name of the server' }
        },
        required: ['action']
      },
      environment: {
        type: 'object',
        properties: {
          MAIL_SERVER: { type: 'string', description: 'Name of the server' },
          MAIL_PORT: { type: 'string', description: 'Its port', default: '587' }
        },
        required: ['MAIL_SERVER']
      }
    };
  },

  async execute({ action, server }) {
    const { api } = this;
    if (action === 'configure') {
      await api.environment.set('MAIL_SERVER', server);
      return { success: true, message: `server is ${server}` };
    }
    const port = await api.environment.get('MAIL_PORT') || '25';
    return { success: true, server: await api.environment.get('MAIL_SERVER'), port, unknown: (await api.environment.get('MAIL_USER')) ?? null };
  }
};

// The second version of the interface: dependencies as a list, a bare schema, validate, and a name without an id.
module.exports = {
  getDependencies() {
    return [];
  },

  getMetadata() {
    return {
      name: 'fill-template',
      description: 'Fills the placeholders of a template',
      version: '1.0.0',
      category: 'utility',
      manual: '@manual://fill-template'
    };
  },

  getSchema() {
    return {
      type: 'object',
      properties: {
        template: { type: 'string', description: 'Text with ${name} placeholders' },
        values: { type: 'object', description: 'Values by name' }
      },
      required: ['template', 'values'],
      additionalProperties: false
    };
  },

  validate(params) {
    const errors = [];
    if (!params.template) errors.push('template is required');
    return { valid: errors.length === 0, errors };
  },

  async execute(params) {
    const { valid, errors } = this.validate(params);
    if (!valid) throw new Error(errors.join(', '));
    const missing = [];
    const text = params.template.replace(/\$\{(\w+)\}/g, (all, name) => {
      if (name in params.values) return params.values[name];
      missing.push(name);
      return all;
    });
    return { success: missing.length === 0, message: missing.length ? `missing: ${missing.join(', ')}` : 'filled', text };
  }
};

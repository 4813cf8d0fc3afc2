module.exports = {
  getMetadata: () => ({ id: 'json_schema_2020_12_tool', description: 'Has a schema of JSON Schema 2020-12' }),
  getSchema: () => ({
    parameters: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false
    }
  }),
  execute ({ name }) {
    return 'Hello ' + name
  }
}

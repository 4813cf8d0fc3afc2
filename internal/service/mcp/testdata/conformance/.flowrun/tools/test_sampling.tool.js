module.exports = {
  getMetadata: () => ({ id: 'test_sampling', description: 'Asks a model', permissions: ['model'] }),
  getSchema: () => ({ parameters: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] } }),
  async execute ({ prompt }) {
    return 'LLM response: ' + await this.api.askModel(prompt, { maxTokens: 100 })
  }
}

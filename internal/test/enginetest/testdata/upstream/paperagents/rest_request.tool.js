// Answers without a network: what it is asked, or two results.
module.exports = {
  getMetadata: () => ({ id: 'rest_request', description: 'Stands for a request to an API' }),
  getSchema: () => ({
    type: 'object',
    properties: {
      url: { type: 'string', description: 'Address' },
      method: { type: 'string', enum: ['GET', 'POST'], description: 'Method', default: 'GET' },
      headers: { type: 'object', description: 'Headers' },
      body: { description: 'What to send' }
    },
    required: ['url']
  }),
  execute({ url, method, headers, body }) {
    if (!URL.canParse(url)) throw new Error(`cannot ask ${url}`);
    const results = ['first', 'second', 'third', 'fourth'].map((title, i) => ({ title, score: 0.9 - i / 5 }));
    return { status: 200, url, method, headers: headers || {}, body: body ?? { results } };
  }
};

// Finds the file with the most matches in the output of grep_search.
module.exports = {
  getMetadata() {
    return { id: 'count', name: 'Count matches', description: 'Find the file with the most matches of a search.', version: '1.0.0', tags: ['read'] };
  },
  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: { found: { type: 'string', description: 'The output of grep_search' } },
        required: ['found']
      }
    };
  },
  getBusinessErrors() {
    return [{ code: 'NO_MATCHES', match: 'no matches', solution: 'search for something else', retryable: false }];
  },
  execute({ found }) {
    const files = [];
    for (const line of found.split('\n')) {
      if (line.startsWith('File: ')) files.push({ file: line.slice('File: '.length), matches: 0 });
      else if (/^L\d+: /.test(line)) files.at(-1).matches++;
    }
    if (files.length === 0) throw new Error('there are no matches in the text');
    return files.sort((a, b) => b.matches - a.matches)[0];
  }
};

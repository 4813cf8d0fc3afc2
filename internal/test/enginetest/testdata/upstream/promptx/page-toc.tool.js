'use strict';

const slug = title => title.toLowerCase().replace(/[^\p{L}\p{N}\s-]/gu, '').trim().replace(/\s+/g, '-');

module.exports = {
  getMetadata: () => ({ id: 'page-toc', name: 'Table of contents', description: 'Makes the table of contents of a Markdown page', version: '1.0.0' }),

  getSchema: () => ({
    parameters: {
      type: 'object',
      properties: {
        markdown: { type: 'string', description: 'The page' },
        depth: { type: 'integer', description: 'Deepest level', enum: [1, 2, 3], default: 2 }
      },
      required: ['markdown']
    }
  }),

  *headings(markdown) {
    let code = false;
    for (const line of markdown.split(/\r?\n/)) {
      if (/^(```|~~~)/.test(line)) code = !code;
      const match = !code && /^(#{1,6})\s+(.+?)\s*#*$/.exec(line);
      if (match) yield { level: match[1].length, title: match[2] };
    }
  },

  async execute({ markdown, depth }) {
    const seen = new Map();
    const lines = [];
    for (const { level, title } of this.headings(markdown)) {
      if (level > depth) continue;
      const n = seen.get(slug(title)) ?? 0;
      seen.set(slug(title), n + 1);
      lines.push(`${'  '.repeat(level - 1)}- [${title}](#${slug(title)}${n ? `-${n}` : ''})`);
    }
    return lines.length ? lines.join('\n') : 'no headings';
  }
};

const tool = __load();
switch (entry) {
  case 'describe':
    return {
      metadata: tool.getMetadata ? tool.getMetadata() : {},
      schema: tool.getSchema ? tool.getSchema() : {},
    };
  case 'execute':
    if (tool.cleanup) __atEnd(() => tool.cleanup());
    return tool.execute(args.params);
}
throw new Error('a tool has no entry ' + entry);

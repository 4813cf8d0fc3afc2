// The second file: what most visits do not need. later.tsx loads it.
export { Artifacts } from './run/artifacts';
export { Audit } from './audit';
export { Changes } from './run/changes';
export { Definition } from './run/definition';
export { Editor } from './editor';
export { Locks } from './locks';
export { Choices } from './palette';
export { Schedules } from './schedules';
export { ToolList } from './tools/list';
export { ToolPage } from './tools/page';

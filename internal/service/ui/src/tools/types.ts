// Documents of the API about tools.
import type { State } from '../status';

export interface ListedTool {
  name: string; description: string; scope?: string; kind: string; category?: string; version?: string; tags: string[];
  risk: 'read' | 'write' | 'run' | 'high'; base_tool?: string; deprecated?: boolean; broken?: boolean;
  recent?: { id: string; status: State; started: string }[];
}

export interface FormField {
  name: string; type: string; title?: string; description?: string; help?: string; required: boolean; default?: unknown; enum?: unknown[]; examples?: unknown[];
  pattern?: string; minimum?: number; maximum?: number; min_length?: number; max_length?: number; secret?: boolean; path?: boolean; deprecated?: boolean; alternative?: string;
}

export interface Tool extends ListedTool {
  display_name?: string; author?: string; deprecated_message?: string; platforms?: string[]; file?: string; execution_privilege?: string; isolation?: string;
  permissions?: string[]; justification?: string; timeout_ms?: number; uses?: string[]; mcp_name: string;
  tests: { name: string; description?: string; status?: 'passed' | 'failed'; at?: string; changed?: boolean }[]; fields: FormField[];
}

export interface Tally { name?: string; runs: number; succeeded: number; success_rate: number; p50_ms: number; p95_ms: number; max_ms: number }

export interface Stats {
  total: Tally; steps: Tally[];
  history: { runs: { id: string; status: State; started: string; duration_ms: number }[]; steps: { name: string; states: (State | '')[] }[] };
}

export interface PlanStep {
  id: string; wave: number; kind: string; command: string; loop?: string; fallback?: string; handler?: string;
  condition?: string; verdict: string; why?: string; problem?: string;
}

export interface Plan {
  tool: string; params: Record<string, unknown>; steps: PlanStep[]; missing_secrets?: string[]; needs?: { name?: string; tool?: string }[];
  tools: { step?: string; name: string; execution_privilege?: string; permissions?: { resolved: string }[]; secret_sources?: string[]; cleanup?: string[]; notify?: string[] }[];
}

export const kindWords: Record<string, string> = {
  yaml: 'YAML', json: 'JSON', markdown: 'Markdown', javascript: 'JavaScript', go: 'Go', builtin: 'Built in', discovered: 'Discovered', mcp: 'MCP server',
};

export const scopeWords: Record<string, string> = { local: 'Project', user: 'User', global: 'Machine' };

export const riskWords: Record<string, string> = { read: 'reads', write: 'writes', run: 'runs code', high: 'not tagged' };

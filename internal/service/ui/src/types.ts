// The documents of the HTTP API that several pages use. Fields that no page uses are left out.
import type { Usage } from './format';
import type { State } from './status';

/** A run in a list (flowrun/runs.v1). */
export interface RunRow {
  id: string; tool: string; status: State; started: string; ended?: string; last_sign?: string; duration_ms: number;
  origin?: string; retry_of?: string; retry_at?: string; reason?: string; message?: string; notes?: string[];
  params?: Record<string, string>; artifacts?: boolean;
}

export interface RunList { runs: RunRow[]; next?: string }

/** A step of a run. */
export interface StepDoc {
  id: string; status: State; exit_code: number; attempts: number; fallback?: boolean; reason?: string; message?: string;
  started?: string; ended?: string; last_sign?: string; duration_ms?: number; usage?: Usage; outputs?: Record<string, unknown>;
  artifacts?: { name: string; digest?: string }[];
}

/** A run (flowrun/run.v1) without what its steps printed. */
export interface RunDoc {
  id: string; tool: string; status: State; exit_code: number; origin?: string; retry_of?: string; attempt?: number; retry_at?: string; reason?: string; message?: string;
  notes?: string[]; started?: string; ended?: string; last_sign?: string; duration_ms: number; labels?: Record<string, string>; params: Record<string, unknown>; outputs?: Record<string, unknown>; withheld?: string[]; steps: StepDoc[];
  notices?: Notice[];
}

/** What a person should know of a run beside its status. */
export interface Notice { code: string; step?: string; message: string }

/** An event of a run (flowrun/event.v1). */
export interface RunEvent {
  seq: number; kind: string; node?: string; attempt?: number; time: string; due?: string; reason?: string; queued_ns?: number;
  items?: number; keys?: string[]; reset?: string[]; result?: any; notices?: Notice[];
}

/** A state that needs a person; without a tool it concerns the machine as a whole. */
export interface AttentionItem { kind: string; tool?: string; run?: string; schedule?: string; step?: string; reason: string; since?: string; do: string }

/** What a step asks a person. */
export interface Question { step: string; prompt: string; form?: any; since: string; until?: string }

/** A question with its run. */
export interface OpenQuestion extends Question { run: string; tool: string; origin?: string; started: string }

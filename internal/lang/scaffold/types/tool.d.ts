// What a tool in JavaScript or TypeScript consists of, and what it sees: this.api and the global names that browsers do not
// have. flowrun init writes this file; docs/reference/tooljs.md describes each part.
//
//   /** @type {import('../types/tool').Tool<typeof schema>} */          in a .tool.js
//   import type { Tool } from '../types/tool'                           in a .tool.ts

/** A value, or a promise of it: every method of a tool may be async. */
export type Awaitable<T> = T | Promise<T>

/**
 * A tool: its methods, and members of your own. S is the type of what getSchema returns, declared "as const": it gives the
 * parameters their types.
 */
export type Tool<S = unknown> = Methods<S> & { [member: string]: unknown } & ThisType<Methods<S> & { readonly api: Api } & Record<string, any>>

/** The methods that flowrun calls. Only execute is required. */
export interface Methods<S = unknown> {
  /** Does the work. Text that it returns is printed unchanged, any other value as one line of JSON. */
  execute(params: ParametersOf<S>): unknown
  getMetadata?(): Awaitable<Metadata>
  getSchema?(): Awaitable<S extends object ? S : object>
  /** npm packages: { lodash: '^4.17.21' }. */
  getDependencies?(): Awaitable<{ readonly [name: string]: string }>
  /** Errors that have a code and a way out. */
  getBusinessErrors?(): Awaitable<BusinessErrors>
  /** Checks the parameters before execute. */
  validate?(params: ParametersOf<S>): Awaitable<boolean | { readonly valid: boolean, readonly errors?: readonly string[] }>
  init?(): unknown
  cleanup?(): unknown
  getBridges?(): Awaitable<{ readonly [name: string]: Bridge }>
  getBridgeErrors?(): Awaitable<BusinessErrors>
  getMockArgs?(name: string): unknown
}

export interface Metadata {
  id?: string
  name?: string
  description?: string
  version?: string
  author?: string
  tags?: readonly string[]
  category?: string
  subcategory?: string
  keywords?: readonly string[]
  /** What the tool may use, such as 'network:external:api.example.com'. */
  permissions?: readonly string[]
  retry?: { attempts: number, delay?: number | string, backoff?: string, maxDelay?: number | string }
  /** The limit of the whole run: milliseconds, or a text such as '30s'. */
  timeout?: number | string
  platforms?: readonly string[]
  deprecated?: boolean
  runtime?: 'node'
  [key: string]: unknown
}

/** A known error. match is a part of the message, a pattern or a function. */
export interface BusinessError {
  code?: string
  description?: string
  match?: string | RegExp | ((error: any, call: { tool: any, params: any }) => boolean)
  solution?: string
  retryable?: boolean
}

export type BusinessErrors = BusinessError | readonly BusinessError[] | { readonly [key: string]: BusinessError | readonly BusinessError[] }

/** Outside access that a dry run replaces. */
export interface Bridge {
  real(args: any, api: Api): unknown
  mock?(args: any, api: Api): unknown
}

/** this.api of a tool. */
export interface Api {
  readonly logger: Logger
  readonly environment: Environment
  readonly storage: Storage
  readonly bridge: { execute(name: string, args?: unknown): Promise<any> }
  readonly toolId: string
  /** The folder with the tool's own data; null without a state directory. */
  readonly sandboxPath: string | null
  /** Loads a package of getDependencies(). */
  importx(name: string): Promise<any>
  /** Runs another tool, and returns its result or throws its message. */
  callTool(id: string, params?: object): Promise<any>
  /** Asks a language model, and returns its answer. */
  askModel(prompt: string, options?: { systemPrompt?: string, maxTokens?: number }): Promise<string>
  /** Runs a program. The times are milliseconds. */
  execute(command: string, args?: readonly (string | number)[], options?: { cwd?: string, env?: { readonly [name: string]: string | number }, timeout?: number, shell?: boolean }): Promise<Executed>
  getInfo(): Info
  /** The version of this interface. */
  getVersion(): string
}

export interface Executed {
  success: boolean
  exitCode: number
  stdout: string
  stderr: string
}

export interface Info {
  id: string
  name: string
  description: string
  version: string
  author: string
  sandboxPath: string | null
  sandbox: string | null
  runtime: { name: 'builtin' | 'node', node?: string, platform: string, arch: string }
}

/** Logs to the step's standard error. */
export interface Logger {
  log(level: string, message: unknown, data?: unknown): void
  trace(message: unknown, data?: unknown): void
  debug(message: unknown, data?: unknown): void
  info(message: unknown, data?: unknown): void
  warn(message: unknown, data?: unknown): void
  error(message: unknown, data?: unknown): void
  fatal(message: unknown, data?: unknown): void
  /** The folder of the run's logs. */
  getLogPath(): string | null
}

/** The variables of the schema and of the .env file of the tool. Changes are made in the file. */
export interface Environment {
  get(name: string): string | undefined
  has(name: string): boolean
  getAll(): { [name: string]: string }
  set(name: string, value: string | number | boolean): void
  setAll(values: { readonly [name: string]: string | number | boolean }): void
  delete(name: string): void
  clear(): void
}

/** Values that the tool keeps between runs, 10 MB at most. */
export interface Storage {
  readonly length: number
  getItem(key: string): any
  setItem(key: string, value: unknown): true
  /** Tells whether the key was there. */
  removeItem(key: string): boolean
  clear(): true
  hasItem(key: string): boolean
  getAll(): { [key: string]: any }
  keys(): string[]
  key(n: number): string | null
  /** The size in bytes. */
  getSize(): number
  getStoragePath(): string | null
}

/** The parameters of a tool: S is the type of what getSchema returns, or of that function. */
export type ParametersOf<S> =
  S extends () => infer R ? ParametersOf<Awaited<R>> :
    S extends { readonly parameters: infer P } ? ValueOf<P> :
      S extends { readonly properties: object } ? ValueOf<S> : any

/** The values that a JSON Schema describes, if its type is known: declare it "as const". */
export type ValueOf<S> =
  S extends { readonly const: infer C } ? C :
    S extends { readonly enum: readonly (infer E)[] } ? E :
      S extends { readonly properties: infer P } ? Members<P, Given<S, P>> :
        S extends { readonly type: infer T } ? OfType<T, S> : any

type OfType<T, S> =
  T extends readonly (infer One)[] ? OfType<One, S> :
    T extends 'string' ? string :
      T extends 'integer' | 'number' ? number :
        T extends 'boolean' ? boolean :
          T extends 'null' ? null :
            T extends 'array' ? (S extends { readonly items: infer I } ? ValueOf<I>[] : any[]) :
              T extends 'object' ? { [name: string]: any } : any

/** The names that always have a value: they are required, or have a default. */
type Given<S, P> = (S extends { readonly required: readonly (infer R)[] } ? R : never) | { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]

type Members<P, Always> = { -readonly [K in keyof P as K extends Always ? K : never]: ValueOf<P[K]> } & { -readonly [K in keyof P as K extends Always ? never : K]?: ValueOf<P[K]> }

declare global {
  function importx(name: string): Promise<any>
  const loadModule: typeof importx
  const importModule: typeof importx
  /** Loads a module of the tool, or one of those that flowrun has, such as 'path'. */
  function require(name: string): any
  const global: typeof globalThis
  function setImmediate(f: (...args: any[]) => void, ...args: any[]): any
  function clearImmediate(id: any): void
  /** The Buffer of Node.js. */
  const Buffer: any
}

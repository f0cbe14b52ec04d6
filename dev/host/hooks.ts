import type { HookCallback, HookContext, HookData } from "./core-types.ts";

/** The hooks an app registered, by name, in the order of their registration. */
export class Hooks {
  readonly #callbacks = new Map<string, HookCallback[]>();
  /** Shared by the hooks of every scope. */
  readonly appHookData: HookData = {};
  /** Shared by appStart and appTerminate only. */
  readonly appLevelHookData: HookData = {};

  /** Returns the function that takes the hook away again. */
  register(name: string, callback: HookCallback): () => void {
    if (!HOOK_NAMES.has(name)) throw new RangeError(`Unrecognized hook "${name}"`);
    const callbacks = this.#callbacks.get(name) ?? [];
    this.#callbacks.set(name, callbacks);
    callbacks.push(callback);
    return () => {
      const index = callbacks.indexOf(callback);
      if (index !== -1) callbacks.splice(index, 1);
    };
  }

  /** One after the other; the first that throws ends the run, and with it what the hook was meant to surround. */
  async run(name: string, context: HookContext): Promise<void> {
    for (const callback of this.#callbacks.get(name) ?? []) await callback(context);
  }

  /** Log hooks are not awaited: a log call has no moment at which it could wait. */
  runNow(name: string, context: HookContext): void {
    for (const callback of this.#callbacks.get(name) ?? []) callback(context);
  }

  has(name: string): boolean {
    return (this.#callbacks.get(name)?.length ?? 0) > 0;
  }
}

const HOOK_NAMES = new Set(["appStart", "appTerminate", "preInvocation", "postInvocation", "log"]);

/** Makes the named properties of a hook's context refuse assignment with the worker's own message. */
export function readOnly<Context extends object>(
  context: Context,
  names: readonly (keyof Context & string)[],
): Context {
  for (const name of names) {
    const value = context[name];
    Object.defineProperty(context, name, {
      enumerable: true,
      get: () => value,
      set: () => {
        throw new TypeError(`Cannot assign to read only property '${name}'`);
      },
    });
  }
  return context;
}

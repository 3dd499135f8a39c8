/** Values read of an `env`, by the function that read them. */
let known = new WeakMap<object, Map<unknown, unknown>>();

/**
 * @param read of variables, which do not change while an `env` lives; what it throws is not stored
 * @returns the same function, which reads each `env` once: one question would otherwise parse all variables a dozen times
 */
export function readOnce<E extends object, T>(read: (env: E) => T): (env: E) => T {
  return (env) => {
    const values = known.get(env) ?? new Map<unknown, unknown>();
    if (!values.has(read)) known.set(env, values.set(read, read(env)));
    // SAFETY: stored above, by the function that made it.
    return values.get(read) as T;
  };
}

/** For a test that changes a variable in place. */
export function readAgain(): void {
  known = new WeakMap();
}

/** How the parts of an object reach what they keep: through a function that has to be imported. */

/**
 * Makes the `slot` of one kind of object.
 * @returns takes a function that runs at the first use in an object, and returns what reaches its result, which is kept as long as
 *   the object lives
 */
export function slotsOf<Context extends object>() {
  return <Kept extends object>(make: (context: Context) => Kept): ((context: Context) => Kept) => {
    const made = new WeakMap<Context, Kept>();
    return (context) => {
      const known = made.get(context);
      if (known) return known;
      const kept = make(context);
      made.set(context, kept);
      return kept;
    };
  };
}

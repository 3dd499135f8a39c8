/** @returns undefined when the time was over first */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  const value = await Promise.race([work, late.promise]);
  clearTimeout(timer);
  return value;
}

/** @param plural absent: with an s @returns "1 action", "2 actions" */
export function counted(count: number, one: string, plural = `${one}s`): string {
  return `${count} ${count === 1 ? one : plural}`;
}

/** Reads what is told: which rules a message names, and whether it says that something fires or that it is over. */

/** @property count firings that it stands for */
export type ToldLine = { rule: string; says: "firing" | "over" | "other"; count: number; text: string };

const NAME = /\bF\d{4,}\b/;

/** Tells a notice from the confirmation that a watch is made, which has its name too. */
export function isNotice(message: string): boolean {
  return /^(🔔|⚠|🚨|✓|⏰|☀|Several at once)/u.test(message);
}

/** @returns a line for each rule that the message names: several may be in one */
export function linesOf(message: string): ToldLine[] {
  if (!isNotice(message)) return [];
  return message.split("\n").flatMap((text): ToldLine[] => {
    const [rule] = NAME.exec(text) ?? [];
    if (rule === undefined) return [];
    const [, times] = /: (\d+) times since /.exec(text) ?? [];
    const isOver = text.includes(": over at ");
    const isOther = /: no value|: there are values again|: still so/.test(text);
    return [{ rule, says: isOver ? "over" : isOther ? "other" : "firing", count: Number(times ?? 1), text }];
  });
}

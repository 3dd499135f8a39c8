/** The lines of a rule's card, as the gateway has them: code wrote them, and a device's labels may be in them. */
import { visible } from "@edgecall/core/tools/visible.ts";

export function RuleLines({ lines }: { lines: readonly string[] }) {
  return (
    <ul class="rule-lines">
      {lines.map((line) => (
        <li key={line}>{visible(line)}</li>
      ))}
    </ul>
  );
}

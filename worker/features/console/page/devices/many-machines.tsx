/** More machines than one answer has: the gateway searches them, and sends a page at a time. */
import { Problem, Skeleton } from "../load.tsx";
import { Pager } from "../pager.tsx";
import { thingsOf } from "../things.ts";
import { usePages } from "../use-pages.ts";
import type { Pressing } from "../use-press.ts";
import type { Filter } from "./groups.ts";
import { ThingRow } from "./thing-row.tsx";

/** Rows on a page; each has some 15 elements. */
const SHOWN = 36;

type Props = { words: string; filter: Filter; current: string | undefined; pressing: Pressing };

export function ManyMachines({ words, filter, current, pressing }: Props) {
  const query = {
    hosted: "no",
    q: words || undefined,
    online: filter === "away" ? "no" : undefined,
  } as const;
  const { value, problem, paging } = usePages("GET /v1/agents", query, SHOWN);
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={6} />;
  const pages = paging(value.agents.length);
  return (
    <>
      <Pager paging={pages} what="devices" />
      <ul class="rows">
        {thingsOf([], value.agents, false).map((thing) => (
          <ThingRow key={thing.id} thing={thing} isCurrent={thing.id === current} pressing={pressing} />
        ))}
      </ul>
      <Pager paging={pages} what="devices" isLast />
    </>
  );
}

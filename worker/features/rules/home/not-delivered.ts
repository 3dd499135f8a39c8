/** A notice reached no recipient: the rules that it was about show why, and name those who get it instead. */

import type { HomeEvents } from "../../../kernel/home/feature.ts";
import { rulesOf } from "./rule-store.ts";

export const noteNotDelivered: HomeEvents["notDelivered"] = (home, ids, { recipient, instead, why }) => {
  for (const row of ids.flatMap((id) => rulesOf(home).get(id) ?? [])) {
    const to = row.said.to.flatMap((one) => (one === recipient ? instead : [one]));
    rulesOf(home).put({ ...row, why, said: { ...row.said, to: [...new Set(to)] } });
  }
};

/** Names of the home's rules, for screens that otherwise have only their ids. */
import { useContext, useEffect, useState } from "preact/hooks";
import { client } from "./api.ts";
import type { RuleName } from "./person-text.ts";
import { NewsOfPage } from "./use-news.ts";

type Names = ReadonlyMap<string, string>;

const NONE: Names = new Map();
/** The gateway asks the bridge for all runs, so screens that are opened after one another share an answer. */
const SHARED_MS = 30_000;
let known: { at: number; names: Promise<Names> } | undefined;

async function load(): Promise<Names> {
  const { automations } = await client.json("GET /v1/automations");
  return new Map(automations.map(({ id, name }) => [id, name]));
}

export function useRuleNames(): RuleName {
  const [acting, setActing] = useState(NONE);
  const { rules } = useContext(NewsOfPage);
  useEffect(() => {
    if (!known || Date.now() - known.at > SHARED_MS) known = { at: Date.now(), names: load() };
    known.names.then(setActing, () => {
      // The next screen asks again.
      known = undefined;
    });
  }, []);
  return (id) => acting.get(id) ?? rules.find((one) => one.id === id)?.name;
}

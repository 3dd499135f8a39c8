/** Names of the home's rules, for screens that otherwise have only their ids. */
import { useContext } from "preact/hooks";
import { useLoaded } from "./load.tsx";
import type { RuleName } from "./person-text.ts";
import { NewsOfPage } from "./use-news.ts";

export function useRuleNames(): RuleName {
  const acting = useLoaded("GET /v1/automations").value?.automations ?? [];
  const { rules } = useContext(NewsOfPage);
  return (id) => [...acting, ...rules].find((one) => one.id === id)?.name;
}

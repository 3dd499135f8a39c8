/** The rules that the person may see. They are asked for again while a person looks, since one may fire. */
import { useEffect } from "preact/hooks";
import { useLoaded } from "../load.tsx";

const LOOK_EVERY_MS = 15_000;

export function useRules() {
  const rules = useLoaded("GET /v1/rules");
  const { reload } = rules;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") reload();
    }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [reload]);
  return rules;
}

/** Asks again while a person looks: what the gateway knows changes without a press here. */
import { useEffect } from "preact/hooks";

/** Each time wakes the home and its bridge, so not often. */
const LOOK_EVERY_MS = 15_000;

/** Calls it while the page is seen, and at once when somebody comes back to it. @param look of the first time that the part is shown */
export function useRepeated(look: () => void): void {
  useEffect(() => {
    const whenSeen = () => {
      if (document.visibilityState === "visible") look();
    };
    const timer = setInterval(whenSeen, LOOK_EVERY_MS);
    document.addEventListener("visibilitychange", whenSeen);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", whenSeen);
    };
  }, []);
}
